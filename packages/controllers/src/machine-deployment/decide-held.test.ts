import {
  annotationKeys,
  labelKeys,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  validateMachineDeployment,
} from "@millwright/core/machine-api";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../model/crd-state.ts";
import {
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  ownedBy,
  refOf,
} from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { changeDeployment, deploymentOf, live, pool, setsOf, withDeployment } from "../testing/running-deployment.ts";
import { crdHoldOfOwner } from "../crd-guard/crd-hold.ts";
import { decideHeld } from "./decide-held.ts";

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
    const { actions, status, because } = decideHeld(deployment, crdHoldOfOwner(crd), now);
    expect(actions).toEqual([]);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(status?.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False" }]);
    expect(because.map(({ reason }) => reason)).toEqual(["CRDDeleted"]);
  });

  it("keeps its sets though it is terminating itself", () => {
    expect(decideHeld(aMachineDeployment(beingDeleted()), crdHoldOfOwner(crd), now).actions).toEqual([]);
  });
});

describe("a deployment whose set is missing machines", () => {
  const missing = annotated({ [annotationKeys.expectedReplicas]: "3" });

  it("rolls nothing out, since the missing machines are recreated", () => {
    const wanted = { spec: { replicas: 5 } };
    expect(decide(aMachineDeployment(wanted), [missing]).actions).toEqual([]);
    expect(decide(aMachineDeployment(wanted), [{}]).actions).not.toEqual([]);
  });

  it("shrinks, so that no more machines are awaited than it is to have", () => {
    const { actions, because } = decide(aMachineDeployment({ spec: { replicas: 2 } }), [missing]);
    expect(actions).toMatchObject([{ kind: "PatchMachineSet", patch: { spec: { replicas: 2 } } }]);
    expect(because.map(({ message }) => message)).toEqual([expect.stringMatching(/^Scaled down machine set .* to 2$/)]);
  });

  it.each([
    [1, 2, 2],
    [0, 5, 3],
  ])(
    "grows a set of %i again with %i replicas to %i at most, so that restored machines are not surplus",
    (size, replicas, grown) => {
      const shrunk = { ...missing, spec: { replicas: size } };
      const { actions } = decide(aMachineDeployment({ spec: { replicas } }), [shrunk]);
      expect(actions).toMatchObject([{ kind: "PatchMachineSet", patch: { spec: { replicas: grown } } }]);
    },
  );

  it("leaves missing machines in the size of a set that creates none", () => {
    const createsNone = { metadata: { ...missing.metadata, labels: { [labelKeys.scaleUpDisabled]: "true" } } };
    expect(decide(aMachineDeployment(), [createsNone]).actions).toEqual([]);
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

it("marks machines of the autoscaler before it shrinks, waits no more when it has enough, and keeps the list of the others", async () => {
  const cluster = await withDeployment({ spec: { replicas: 5 } });
  await live(cluster);
  const ref = refOf(setsOf(cluster)[0]?.metadata.name ?? "");
  cluster.api.change(machineSetResource, ref, annotated({ [annotationKeys.expectedReplicas]: "5" }));
  const names = cluster.machines().map(({ metadata }) => metadata.name);
  const [lost = "", other = "", selected = ""] = names;
  for (const name of [lost, other]) cluster.api.remove(machineResource, refOf(name));
  await cluster.settle(1_000);
  const at = "2026-01-01T00:00:30Z";
  const list = `${lost}~${at},${selected}~${at}`;
  cluster.api.change(machineDeploymentResource, pool, annotated({ [annotationKeys.triggerDeletion]: list }));
  await changeDeployment(cluster, { spec: { replicas: 4 } });
  await cluster.settle(10_000);
  const state = () => [setsOf(cluster)[0]?.spec.replicas, cluster.machines().length];
  expect(state()).toEqual([4, 3]);
  const marked = cluster
    .machines()
    .filter(({ metadata }) => metadata.annotations?.[annotationKeys.machinePriority] === "1");
  expect(marked.map(({ metadata }) => metadata.name)).toEqual([selected]);
  expect(deploymentOf(cluster)?.metadata.annotations?.[annotationKeys.triggerDeletion]).toBe(list);

  await changeDeployment(cluster, { spec: { replicas: 2 } });
  await cluster.settle(10_000);
  await live(cluster);
  // The VMs of lost machines wait for a person.
  expect(setsOf(cluster)[0]?.metadata.annotations?.[annotationKeys.expectedReplicas]).toBe("5");
  expect(state()).toEqual([2, 2]);
  expect(cluster.machines().map(({ metadata }) => metadata.name)).not.toContain(selected);
});
