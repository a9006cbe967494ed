import { annotationKeys, type Machine, type MachineSet } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { testNow } from "../testing/test-time.ts";
import { decideMachineSet } from "./decide.ts";

/** The machines that a set with these machines creates, under a rollout from `proven` to `set`. */
function createdBy(
  { proven, onDelete = false }: { readonly proven: string; readonly onDelete?: boolean },
  machines: readonly Change<Machine>[],
  ...changes: readonly Change<MachineSet>[]
): readonly unknown[] {
  const record = JSON.stringify({ set: "pool-b", revision: 2, proven, since: "2026-01-01T00:00:00Z" });
  const annotations = { [annotationKeys.rollout]: record, ...(onDelete ? { [annotationKeys.onDelete]: "true" } : {}) };
  const deployment = aMachineDeployment(annotated(annotations));
  const finalizers = { metadata: { finalizers: ["machine.sapcloud.io/machine-controller-manager"] } };
  const set = aMachineSet(named("pool-b"), ownedBy(deployment), finalizers, { spec: { replicas: 2 } }, ...changes);
  const owned = machines.map((change, index) => aMachine(named(`m${index}`), ownedBy(set), change));
  const claim = { owned, adopt: [], release: [] };
  const { actions } = decideMachineSet({ set, claim, deployment, problems: [] }, testNow);
  return actions.flatMap((action) => (action.kind === "CreateMachines" ? [action.count] : []));
}

const going = { ...inPhase("Failed"), ...beingDeleted() };

it("counts a machine that failed until its VM is gone, as long as the template is on trial", () => {
  expect(createdBy({ proven: "pool-a" }, [going, inPhase("Running")])).toEqual([]);
  expect(createdBy({ proven: "pool-a" }, [inPhase("Running")])).toEqual([1]);
  expect(createdBy({ proven: "pool-a" }, [going, going, going])).toEqual([]);
  expect(createdBy({ proven: "pool-a" }, [going], { spec: { replicas: null } })).toEqual([]);
});

it("replaces it at once in the set of the proven template, and where machines are replaced on deletion", () => {
  expect(createdBy({ proven: "pool-b" }, [going, inPhase("Running")])).toEqual([1]);
  expect(createdBy({ proven: "pool-a", onDelete: true }, [going, inPhase("Running")])).toEqual([1]);
});

it("creates one machine beside those that cannot be deleted since their writes are refused, and then no more", () => {
  const refused = (state: string) => ({
    ...going,
    status: {
      ...inPhase("Failed").status,
      lastOperation: { type: "Delete", state, description: "Failed to patch Machine m: 403 Forbidden: denied" },
    },
  });
  const created = (count: number, state = "Failed"): readonly unknown[] =>
    createdBy(
      { proven: "pool-b" },
      Array.from({ length: count }, () => refused(state)),
    );
  expect([created(1), created(2), created(3), created(4)]).toEqual([[2], [1], [], []]);
  expect(created(2, "Processing")).toEqual([2]);
});
