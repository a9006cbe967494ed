import { annotationKeys, type MachineSet, validateMachineDeployment } from "@millwright/core/machine-api";
import { claimObjects, findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, annotated, beingDeleted, type Change, ownedBy } from "../testing/builders.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { decideMachineDeployment } from "./decide.ts";

const now = new Date("2026-01-02T00:00:00Z");
const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });

function decide(deployment: ReturnType<typeof aMachineDeployment>, sets: readonly Change<MachineSet>[] = [{}]) {
  const owned = sets.map((change) => aMachineSet(ownedBy(deployment), change));
  const claim = claimObjects(deployment, owned, () => true);
  const problems = validateMachineDeployment(deployment);
  return decideMachineDeployment(deploymentSnapshot({ deployment, claim, machines: new Map(), problems }), now);
}
const conditionOf = ({ status }: ReturnType<typeof decide>) =>
  findCondition(status?.conditions ?? [], "DeletionProtected");

describe("a terminating deployment that is protected", () => {
  it("keeps its sets and its finalizer, and reports the annotation once", () => {
    const first = decide(aMachineDeployment(isKept, beingDeleted()));
    expect(first.actions).toEqual([]);
    const message =
      "Deletion paused: MachineDeployment pool is protected. Nothing of it is created, scaled or deleted. To delete it, remove annotation machine.millwright.dev/deletion-protection from MachineDeployment pool";
    expect(conditionOf(first)).toMatchObject({ status: "True", reason: "ObjectProtected", message });
    expect(first.because).toEqual([{ type: "Warning", reason: "DeletionProtected", message }]);
    const stored = { ...aMachineDeployment(isKept, beingDeleted()), status: first.status ?? {} };
    expect(decide(stored)).toMatchObject({ actions: [], because: [] });
  });

  it("is kept without sets, too", () => {
    expect(decide(aMachineDeployment(isKept, beingDeleted()), []).actions).toEqual([]);
    expect(decide(aMachineDeployment(beingDeleted()), []).actions).toEqual([{ kind: "RemoveFinalizer" }]);
  });

  it("is deleted with its sets when the annotation is removed, and the condition is removed", () => {
    const { status } = decide(aMachineDeployment(isKept, beingDeleted()));
    const decision = decide({ ...aMachineDeployment(beingDeleted()), status: status ?? {} });
    expect(decision.actions.map(({ kind }) => kind)).toEqual(["DeleteMachineSet"]);
    expect(conditionOf(decision)).toBeUndefined();
  });
});

describe("a protected deployment", () => {
  it("is scaled", () => {
    const { actions } = decide(aMachineDeployment(isKept, { spec: { replicas: 0 } }));
    expect(actions[0]).toMatchObject({ kind: "PatchMachineSet", patch: { spec: { replicas: 0 } } });
  });

  it("gets its finalizer also while its spec is invalid, so that the garbage collector keeps its sets", () => {
    const invalid = { metadata: { finalizers: null }, spec: { replicas: -1 } };
    expect(decide(aMachineDeployment(isKept, invalid)).actions).toEqual([{ kind: "AddFinalizer" }]);
    expect(decide(aMachineDeployment(invalid)).actions).toEqual([]);
  });

  it("has the condition of a set whose machines are kept", () => {
    const condition = {
      type: "DeletionProtected",
      status: "True",
      reason: "MachinesProtected",
      message: "Cannot delete protected machines: m0",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const ofSet = { status: { machineSetCondition: [condition] } } as Change<MachineSet>;
    expect(conditionOf(decide(aMachineDeployment(), [ofSet]))).toMatchObject({ message: condition.message });
    expect(conditionOf(decide(aMachineDeployment()))).toBeUndefined();
  });
});
