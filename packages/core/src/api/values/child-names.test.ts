import { expect, it } from "vitest";
import { machineNameIn } from "./child-names.ts";

it("puts the suffix behind the name of the set", () => {
  expect(machineNameIn("worker-5bd94", "xk2f5")).toBe("worker-5bd94-xk2f5");
});

it("cuts the name of a long set so that the machine's name fits into a label", () => {
  const name = machineNameIn("s".repeat(253), "xk2f5");
  expect(name).toHaveLength(63);
  expect(name.endsWith("sxk2f5")).toBe(true);
});
