import { createStore, watchOrphaningOwners } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { decideMachineSet } from "./decide.ts";
import { machineSetSnapshot } from "./observe.ts";
import { aMachine, aMachineSet, beingDeleted, ownedBy } from "../testing/builders.ts";

const now = new Date("2026-01-01T00:10:00Z");
const finalizer = "machine.sapcloud.io/machine-controller-manager";
const going = (...finalizers: readonly string[]) => aMachineSet(beingDeleted(), { metadata: { finalizers } });

describe("a set that is deleted without its machines", () => {
  const set = going(finalizer, "orphan");
  const machine = aMachine(ownedBy(set), { metadata: { resourceVersion: "7" } });
  const actionsOf = (of: typeof set, machines: readonly (typeof machine)[], orphaning?: "waiting" | "released") => {
    const sources = { controlled: machines, others: [], deployment: () => undefined, nodesOf: () => new Map() };
    return decideMachineSet({ ...machineSetSnapshot(of, sources), ...(orphaning && { orphaning }) }, now).actions;
  };

  it("waits for the garbage collector, and deletes no machine", () => {
    expect(actionsOf(set, [machine])).toEqual([]);
    expect(actionsOf(set, [machine], "waiting")).toEqual([]);
    expect(actionsOf(set, [], "waiting")).toEqual([{ kind: "RemoveFinalizer" }]);
  });

  it("releases the machines that the garbage collector did not see, once it is done", () => {
    expect(actionsOf(going(finalizer), [machine], "released")).toEqual([{ kind: "OrphanMachine", name: "machine" }]);
  });

  it("deletes machines only in the version that was read, in case the process missed the finalizer", () => {
    expect(actionsOf(going(finalizer), [machine])).toEqual([
      { kind: "DeleteMachine", name: "machine", uid: "uid-machine", resourceVersion: "7" },
    ]);
  });
});

it("is remembered from every event, until the owner is deleted", () => {
  const subscribers: ((old: unknown, current: unknown) => void)[] = [];
  const store = { subscribe: (each: (typeof subscribers)[number]) => (subscribers.push(each), () => undefined) };
  const owners = watchOrphaningOwners(store as unknown as Pick<ReturnType<typeof createStore>, "subscribe">);
  const emit = (old: unknown, current: unknown) => subscribers.forEach((each) => each(old, current));
  const [orphaning, after] = [going(finalizer, "orphan"), going(finalizer)];
  expect(owners.stateOf(after)).toBeUndefined();
  emit(aMachineSet(), orphaning);
  expect(owners.stateOf(orphaning)).toBe("waiting");
  emit(orphaning, after);
  expect(owners.stateOf(after)).toBe("released");
  emit(after, undefined);
  expect(owners.stateOf(after)).toBeUndefined();
});
