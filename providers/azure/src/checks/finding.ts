import type { CheckOutcome } from "@millwright/core";

/** What a check found, but for its name. */
export type Finding = Omit<CheckOutcome, "name">;
