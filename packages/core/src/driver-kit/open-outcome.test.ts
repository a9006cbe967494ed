import { describe, expect, it } from "vitest";
import { rejectionCodes } from "../driver/machine-error-code.ts";
import { MachineError } from "../driver/machine-error.ts";
import { asOpenOutcome } from "./open-outcome.ts";

describe("asOpenOutcome", () => {
  it.each([...rejectionCodes])("keeps the token of a launch after %s, and the message", (code) => {
    const failure = new MachineError(code, "looking for VM i-1: no", { retryAfterMs: 1_000, lastKnownState: "s" });
    expect(asOpenOutcome(failure)).toMatchObject({
      code: "Unavailable",
      message: failure.message,
      retryAfterMs: 1_000,
      lastKnownState: "s",
    });
  });

  it.each([
    new MachineError("AlreadyExists", "the VM of another spec"),
    new MachineError("DeadlineExceeded", "too slow"),
    new MachineError("ResourceExhausted", "the VM has ended", { tokenIsSpent: true }),
  ])("keeps $code as it is, which does not claim that there is no VM", (failure) => {
    expect(asOpenOutcome(failure)).toBe(failure);
  });
});
