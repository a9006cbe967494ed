import { annotationKeys, type MachineSet, validateMachineDeployment } from "@millwright/core";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../model/crd-state.ts";
import { aMachineDeployment, aMachineSet, annotated, beingDeleted, type Change, ownedBy } from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { decidePaused } from "./paused-by-crd.ts";

const now = new Date("2026-01-02T00:00:00Z");
const crd: CrdState = { name: "machines.machine.sapcloud.io", state: "deleted" };

function decide(deployment: ReturnType<typeof aMachineDeployment>, sets: readonly Change<MachineSet>[]) {
  const owned = sets.map((change) => aMachineSet(ownedBy(deployment), change));
  const claim = claimObjects(deployment, owned, () => true);
  const problems = validateMachineDeployment(deployment);
  return decideMachineDeployment(deploymentSnapshot({ deployment, claim, machines: new Map(), problems }), now);
}

describe("a deployment that a CRD pauses", () => {
  it("leaves its sets and its counters alone, and reports why in one condition", () => {
    const deployment = aMachineDeployment({ status: { replicas: 3, readyReplicas: 3 } });
    const { actions, status, because } = decidePaused(deployment, crd, now);
    expect(actions).toEqual([]);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(status?.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False" }]);
    expect(because.map(({ reason }) => reason)).toEqual(["CRDDeleted"]);
  });

  it("keeps its sets though it is terminating itself", () => {
    expect(decidePaused(aMachineDeployment(beingDeleted()), crd, now).actions).toEqual([]);
  });
});

describe("a deployment whose set is missing machines", () => {
  const missing = annotated({ [annotationKeys.expectedReplicas]: "3" });

  it("rolls nothing out, since the missing machines are recreated", () => {
    const wanted = { spec: { replicas: 5 } };
    expect(decide(aMachineDeployment(wanted), [missing]).actions).toEqual([]);
    expect(decide(aMachineDeployment(wanted), [{}]).actions).not.toEqual([]);
  });

  it("removes the condition", () => {
    const condition = {
      type: "CRDsEstablished",
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      lastUpdateTime: "2026-01-01T00:00:00Z",
    } as const;
    const { status } = decide(aMachineDeployment({ status: { conditions: [condition] } }), [missing]);
    expect(status?.conditions?.map(({ type }) => type)).not.toContain("CRDsEstablished");
  });

  it("is deleted when a user deletes it", () => {
    const { actions } = decide(aMachineDeployment(beingDeleted()), [missing]);
    expect(actions.map(({ kind }) => kind)).toEqual(["DeleteMachineSet"]);
  });
});
