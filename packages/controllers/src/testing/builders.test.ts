import {
  validateMachine,
  validateMachineClass,
  validateMachineDeployment,
  validateMachineSet,
} from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, aMachineDeployment, aMachineSet, inPhase, named, ownedBy } from "./builders.ts";

describe("builders", () => {
  it("make objects that validation accepts", () => {
    expect([
      ...validateMachine(aMachine()),
      ...validateMachineSet(aMachineSet()),
      ...validateMachineDeployment(aMachineDeployment()),
      ...validateMachineClass(aMachineClass()),
    ]).toEqual([]);
  });

  it("lay changes over each other", () => {
    const set = aMachineSet(named("a"));
    const machine = aMachine(named("a-1"), inPhase("Running"), ownedBy(set), { spec: { class: null } });
    expect(machine.metadata).toMatchObject({ uid: "uid-a-1", ownerReferences: [{ kind: "MachineSet", uid: "uid-a" }] });
    expect(machine.status?.currentStatus?.phase).toBe("Running");
    expect(machine.spec).toEqual({});
  });

  it("refuse shapes that an API server would not store", () => {
    expect(() => aMachine({ spec: { drainTimeout: 3 } } as object)).toThrow("drainTimeout");
  });
});
