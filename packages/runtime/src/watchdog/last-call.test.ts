import { expect, it } from "vitest";
import { LAST_CALL_BYTES, readLastCall, writeLastCall } from "./last-call.ts";

it("reads what was written last, and nothing before the first call", () => {
  const memory = new SharedArrayBuffer(LAST_CALL_BYTES);
  expect(readLastCall(memory)).toBeUndefined();
  writeLastCall(memory, 'deleteMachine of driver "mock" for a-machine-with-a-long-name');
  writeLastCall(memory, 'createMachine of driver "mock" for ä');
  expect(readLastCall(memory)).toBe('createMachine of driver "mock" for ä');
});

it("cuts a long text between two characters", () => {
  const memory = new SharedArrayBuffer(LAST_CALL_BYTES);
  writeLastCall(memory, `x${"ä".repeat(5_000)}`);
  expect(readLastCall(memory)).toMatch(/^xä{400,}$/);
});
