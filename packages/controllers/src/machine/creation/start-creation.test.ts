import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, type Change, named } from "../../testing/builders.ts";
import type { Machine } from "@millwright/core/machine-api";
import { launchGroupOf } from "./start-creation.ts";

const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "a" };
const noted = (annotations: Readonly<Record<string, string>>): Change<Machine> => ({
  spec: { nodeTemplate: { metadata: { annotations } } },
});

describe("the launch group of a machine", () => {
  const own = launchGroupOf(aMachine(), aMachineClass());

  it.each([
    ["class", aMachine(), aMachineClass(named("other"))],
    [
      "placement of its own",
      aMachine(noted({ "machine.sapcloud.io/awsPlacement": '{"tenancy":"host"}' })),
      aMachineClass(),
    ],
  ])("differs for another %s", (_, machine, machineClass) => {
    expect(launchGroupOf(machine, machineClass)).not.toBe(own);
  });

  it("is that of all machines with the same placement, in any order of their annotations", () => {
    expect(launchGroupOf(aMachine(named("other")), aMachineClass())).toBe(own);
    expect(launchGroupOf(aMachine(noted({ a: "1", b: "2" })), aMachineClass())).toBe(
      launchGroupOf(aMachine(noted({ b: "2", a: "1" })), aMachineClass()),
    );
  });

  it("stays the same when the controllers fill the node template of the class while a creation waits", () => {
    expect(launchGroupOf(aMachine(), aMachineClass({ nodeTemplate }))).toBe(own);
  });
});
