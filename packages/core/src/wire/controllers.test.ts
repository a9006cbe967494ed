import { describe, expect, it } from "vitest";
import { controllerNames, leaseNames, leasesOf, selectControllers } from "./controllers.ts";

const without = (...names: readonly string[]) => controllerNames.filter((name) => !names.includes(name));

describe("a selection of controllers", () => {
  it.each([
    [["*"], controllerNames],
    [["*", "-machine-safety-orphan-vms"], without("machine-safety-orphan-vms")],
    [["-node", "*", "node"], without("node")],
    [["machineset"], ["machineset"]],
    [["machine-controller-manager"], ["machineset", "machinedeployment"]],
    [["*", "-machine-controller-manager"], without("machineset", "machinedeployment")],
    [["machine-controller", "machineset"], without("machinedeployment")],
    [["-secret", "machine-controller"], without("machineset", "machinedeployment", "secret")],
  ])("of %j is %j", (items, expected) => {
    expect(selectControllers(items)).toEqual(expected);
  });

  it.each([
    [["machines"], 'there is no controller "machines"; expected *, machineset, '],
    [["*", "-bootstrap"], 'there is no controller "-bootstrap"'],
    [["-machine"], "it selects no controller; write *,-machine for all others"],
    [[], "it selects no controller"],
  ])("of %j is rejected", (items, problem) => {
    expect(selectControllers(items)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it("needs the leases of its controllers alone", () => {
    expect(leasesOf(controllerNames)).toEqual(leaseNames);
    expect(leasesOf(["machinedeployment"])).toEqual(["machine-controller-manager"]);
    expect(leasesOf(["secret", "machine"])).toEqual(["machine-controller"]);
  });
});
