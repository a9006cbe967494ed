import { expect, it } from "vitest";
import { createTold } from "./told.ts";

const told = (reason: string, message: string) => ({ type: "Warning", reason, message }) as const;

it("remembers the last lasting problem of each machine until the machine is gone", () => {
  const memory = createTold();
  expect(memory.of("a")).toBeUndefined();
  memory.remember("a", [told("InvalidPreserveValue", "first"), told("NodeUnhealthy", "not lasting")]);
  memory.remember("b", [told("NodeUnhealthy", "not lasting")]);
  expect([memory.of("a"), memory.of("b")]).toEqual(["first", undefined]);
  memory.remember("a", [told("InvalidPreserveValue", "second")]);
  expect(memory.of("a")).toBe("second");
  memory.forget("a");
  expect(memory.of("a")).toBeUndefined();
});
