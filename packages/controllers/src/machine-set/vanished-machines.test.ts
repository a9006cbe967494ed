import { annotationKeys, finalizers, type Machine, validateMachineSet } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { claimObjects, createStore } from "@millwright/kube";
import { expect, it } from "vitest";
import { aMachine, aMachineSet, annotated, beingDeleted, type Change, named, ownedBy } from "../testing/builders.ts";
import { decideMachineSet } from "./decide.ts";
import { restoreHold } from "./expected-replicas.ts";
import { trackVanishedMachines } from "./vanished-machines.ts";

const now = new Date("2026-01-02T00:00:00Z");
const set = aMachineSet({ spec: { replicas: 3 } });
const key = `${set.metadata.namespace}/${set.metadata.name}`;

function follow(machines: readonly Machine[]) {
  const store = createStore<Machine>();
  const clock = createVirtualClock();
  let isCurrent = true;
  const vanished = trackVanishedMachines({ store, isCurrent: () => isCurrent }, clock);
  for (const machine of machines) store.applyEvent(machine);
  const lose = (current: boolean): void => {
    isCurrent = current;
    for (const { metadata } of machines) store.applyDelete({ ...metadata, uid: metadata.uid });
    isCurrent = true;
  };
  return { store, vanished, lose, clock };
}
const machine = (name: string, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(named(name), ownedBy(set), { metadata: { finalizers: [finalizers.machine] } }, ...changes);

it("counts machines that a restored API server lacks, by their set, until they are back or forgotten", () => {
  const { store, vanished, lose } = follow([machine("a"), machine("b"), machine("leaving", beingDeleted())]);
  lose(false);
  expect(vanished.countOf(key)).toBe(2);
  store.applyEvent(machine("a", { metadata: { uid: "restored" } }));
  expect(vanished.countOf(key)).toBe(1);
  vanished.forget(key);
  expect(vanished.countOf(key)).toBe(0);
});

it("forgets them after a minute", async () => {
  const { vanished, lose, clock } = follow([machine("a")]);
  lose(false);
  await clock.advance(59_000);
  expect(vanished.countOf(key)).toBe(1);
  await clock.advance(2_000);
  expect(vanished.countOf(key)).toBe(0);
});

it("does not count machines that are deleted while the cache is current", () => {
  const { vanished, lose } = follow([machine("a"), machine("b")]);
  lose(true);
  expect(vanished.countOf(key)).toBe(0);
});

it("has a set wait for them instead of creating others, by an annotation that a user may remove", () => {
  const decide = (declared: typeof set, vanished: number) =>
    decideMachineSet(
      {
        set: declared,
        claim: claimObjects(declared, [machine("left")], () => true),
        problems: validateMachineSet(declared),
        memory: { vanished },
      },
      now,
    );
  const first = decide(set, 2);
  expect(first.actions).toEqual([
    { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "3" } } } },
  ]);
  expect(first.because).toMatchObject([{ type: "Warning", reason: "MachinesVanished" }]);
  const waiting = decide(
    aMachineSet({ spec: { replicas: 3 } }, annotated({ [annotationKeys.expectedReplicas]: "3" })),
    2,
  );
  expect(waiting).toMatchObject({ actions: [], blocked: restoreHold, because: [{ reason: "DeletionsHeld" }] });
  expect(decide(aMachineSet({ spec: { replicas: 1 } }), 2).actions).toEqual([]);
  expect(decide(set, 0).actions).toEqual([{ kind: "CreateMachines", count: 2 }]);
});

it.each([true, false])("waits for no machine where no VM is without Machine: %s", (hasNoOwnerlessVms) => {
  const waiting = aMachineSet({ spec: { replicas: 3 } }, annotated({ [annotationKeys.expectedReplicas]: "3" }));
  const decision = decideMachineSet(
    {
      set: waiting,
      claim: claimObjects(waiting, [machine("left")], () => true),
      problems: validateMachineSet(waiting),
      hasNoOwnerlessVms,
    },
    now,
  );
  const patch = { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } };
  expect(decision.actions).toEqual(
    hasNoOwnerlessVms
      ? [
          { kind: "PatchSet", patch },
          { kind: "CreateMachines", count: 2 },
        ]
      : [],
  );
});

it.each([
  ["records machines whose VMs run", true, 2, "4"],
  ["records none that no process has missed", false, 2, undefined],
  ["records none without VMs", true, 0, undefined],
])("a set that was scaled down while no process ran %s", (_, isUnexplained, count, expected) => {
  const small = aMachineSet({ spec: { replicas: 2 } });
  const machines = ["a", "b"].map((name) => aMachine(named(name), ownedBy(small)));
  const { actions } = decideMachineSet(
    {
      set: small,
      claim: claimObjects(small, machines, () => true),
      problems: validateMachineSet(small),
      memory: { isUnexplained },
      ...(isUnexplained ? { lostVms: { state: "known", count } as const } : {}),
    },
    now,
  );
  const patch = { metadata: { annotations: { [annotationKeys.expectedReplicas]: expected } } };
  expect(actions).toEqual(expected === undefined ? [] : [{ kind: "PatchSet", patch }]);
});
