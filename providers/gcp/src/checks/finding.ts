import type { CheckOutcome } from "@millwright/core";

/** What a check found, but for its name. */
export type Finding = Omit<CheckOutcome, "name">;

/** Problems of fields of the class as one finding; the given message where there are none. */
export const findingOf = (problems: readonly string[], message: string): Finding =>
  problems.length === 0
    ? { status: "ok", message }
    : { status: "failed", message: `${problems.map((problem) => `providerSpec.${problem}`).join("; ")}.` };
