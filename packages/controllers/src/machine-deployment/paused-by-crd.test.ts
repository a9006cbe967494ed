import { annotationKeys, type MachineSet, validateMachineDeployment } from "@millwright/core";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../model/crd-state.ts";
import { aMachineDeployment, aMachineSet, annotated, beingDeleted, type Change, ownedBy } from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import type { MachineDeploymentSnapshot } from "./state/snapshot.ts";

const now = new Date("2026-01-02T00:00:00Z");
const standstill: CrdState = { name: "machines.machine.sapcloud.io", state: "gone" };

function decide(
  deployment: ReturnType<typeof aMachineDeployment>,
  sets: readonly Change<MachineSet>[],
  more: Partial<MachineDeploymentSnapshot> = {},
) {
  const owned = sets.map((change) => aMachineSet(ownedBy(deployment), change));
  const claim = claimObjects(deployment, owned, () => true);
  const problems = validateMachineDeployment(deployment);
  return decideMachineDeployment({ deployment, claim, machines: new Map(), problems, ...more }, now);
}

describe("a deployment while a definition is being deleted", () => {
  it("leaves its sets and its numbers alone, and says why in one condition", () => {
    const deployment = aMachineDeployment({ status: { replicas: 3, readyReplicas: 3 } });
    const { actions, status, because } = decide(deployment, [{}], { standstill });
    expect(actions).toEqual([]);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(status?.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False" }]);
    expect(because.map(({ reason }) => reason)).toEqual(["CRDDeleted"]);
  });

  it("keeps its sets though it is on its way out itself", () => {
    expect(decide(aMachineDeployment(beingDeleted()), [{}], { standstill }).actions).toEqual([]);
  });
});

describe("a deployment whose set awaits machines", () => {
  const awaiting = annotated({ [annotationKeys.expectedReplicas]: "3" });

  it("rolls nothing out, for what is missing comes back", () => {
    const wanted = { spec: { replicas: 5 } };
    expect(decide(aMachineDeployment(wanted), [awaiting]).actions).toEqual([]);
    expect(decide(aMachineDeployment(wanted), [{}]).actions).not.toEqual([]);
  });

  it("no longer says that it stands still", () => {
    const condition = {
      type: "CRDsEstablished",
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      lastUpdateTime: "2026-01-01T00:00:00Z",
    } as const;
    const { status } = decide(aMachineDeployment({ status: { conditions: [condition] } }), [awaiting]);
    expect(status?.conditions?.map(({ type }) => type)).not.toContain("CRDsEstablished");
  });

  it("goes when somebody deletes it", () => {
    const { actions } = decide(aMachineDeployment(beingDeleted()), [awaiting]);
    expect(actions.map(({ kind }) => kind)).toEqual(["DeleteMachineSet"]);
  });
});
