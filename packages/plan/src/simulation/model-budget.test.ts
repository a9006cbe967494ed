import {
  aMachineDeployment,
  annotated,
  aNode,
  beingDeleted,
  type Change,
  createRolloutModel,
  ofClass,
  settle,
} from "@millwright/controllers/testing";
import { annotationKeys, labelKeys, type Machine, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { PreviewObjects } from "./model-cluster.ts";
import { type ChangePreview, previewChange, type PreviewOptions } from "./preview-change.ts";

const now = new Date("2026-03-01T12:00:00Z");

/** Machines that serve: their deletion loses a VM. */
const inService = (machine: Machine): Machine => ({
  ...machine,
  metadata: { ...machine.metadata, labels: { ...machine.metadata.labels, [labelKeys.node]: machine.metadata.name } },
  spec: { ...machine.spec, providerID: `vm-${machine.metadata.name}` },
});

/** A deployment of so many machines at rest, and then changed. */
function atRest(replicas: number, ...changes: readonly Change<MachineDeployment>[]): PreviewObjects {
  const model = createRolloutModel(aMachineDeployment({ spec: { replicas } }));
  settle(model);
  for (const change of changes) model.change(change);
  const machines = model.machines().map(inService);
  return {
    deployments: [model.deployment()],
    sets: model.sets(),
    machines,
    nodes: machines.map(({ metadata: { name } }) => aNode({ metadata: { name } })),
  };
}

const scaledTo = (replicas: number): Change<MachineDeployment> => ({ spec: { replicas } });
const approvedUntil = (time: string): Change<MachineDeployment> =>
  annotated({ [annotationKeys.approveDeletions]: time });
const strategy = (maxSurge: number | string, maxUnavailable: number | string): Change<MachineDeployment> => ({
  spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } },
});

const preview = (objects: PreviewObjects, options: Partial<PreviewOptions> = {}): ChangePreview =>
  previewChange(objects, { kind: "MachineDeployment", name: "pool" }, { now, ...options });

const deletedIn = ({ steps }: ChangePreview): number =>
  steps.reduce((total, { machinesDeleted }) => total + machinesDeleted.length, 0);

describe("the deletion budget in a preview", () => {
  it("holds a scale-down of more than the share for approval, as a whole", () => {
    const shown = preview(atRest(15, scaledTo(0)));
    expect(shown.outcome).toBe("waits");
    expect(deletedIn(shown)).toBe(0);
    expect(shown.waitsFor).toEqual([
      expect.stringMatching(
        /^Deletion of 15 machines is held \(scale-down\): at most 10 of 15 machines of MachineDeployment pool .*"millwright approve deployment pool"/,
      ),
    ]);
  });

  it("holds the deletion of a deployment: its machines are terminating, and none is drained", () => {
    const shown = preview(atRest(15, beingDeleted()));
    expect(shown).toMatchObject({ outcome: "waits", waitsFor: [expect.stringContaining("(deletion of the owner)")] });
    expect(deletedIn(shown)).toBe(0);
    expect(shown.steps.at(-1)?.after).toMatchObject({ terminating: 15 });
  });

  it("holds nothing within the share", () => {
    const shown = preview(atRest(15, scaledTo(5)));
    expect(shown).toMatchObject({ outcome: "completes", waitsFor: [] });
    expect(deletedIn(shown)).toBe(10);
    expect(preview(atRest(10, beingDeleted())).outcome).toBe("completes");
  });

  it("holds nothing that is approved, or that a share of 0 allows", () => {
    const approved = approvedUntil("2026-03-01T13:00:00Z");
    expect(deletedIn(preview(atRest(15, scaledTo(0), approved)))).toBe(15);
    expect(deletedIn(preview(atRest(15, beingDeleted(), approved)))).toBe(15);
    expect(deletedIn(preview(atRest(15, scaledTo(0), approvedUntil("2026-03-01T11:00:00Z"))))).toBe(0);
    expect(deletedIn(preview(atRest(15, beingDeleted()), { maxDeletionShare: 0 }))).toBe(15);
  });

  it.each([
    [1, 0],
    ["100%", 0],
    [0, "40%"],
  ])("lets a rolling update with maxSurge %s and maxUnavailable %s pass", (maxSurge, maxUnavailable) => {
    const shown = preview(atRest(30, strategy(maxSurge, maxUnavailable), ofClass("big")));
    expect(shown).toMatchObject({ outcome: "completes", waitsFor: [] });
    expect(deletedIn(shown)).toBe(30);
  });

  it("holds a rollout that takes most machines out of service at once", () => {
    const shown = preview(atRest(30, strategy(0, "100%"), ofClass("big")));
    expect(shown).toMatchObject({
      outcome: "waits",
      waitsFor: [expect.stringContaining("30 machines is held (rollout)")],
    });
  });

  it("holds the deletion of small deployments that are most of the namespace together", () => {
    const pool = atRest(10, beingDeleted());
    const others = ["b", "c"].map((suffix) => {
      const rename = (name: string): string => `${name}-${suffix}`;
      const copy = <T extends { readonly metadata: Machine["metadata"] }>(object: T): T => ({
        ...object,
        metadata: {
          ...object.metadata,
          name: rename(object.metadata.name),
          uid: rename(object.metadata.uid ?? ""),
          ownerReferences: (object.metadata.ownerReferences ?? []).map((owner) => ({
            ...owner,
            name: rename(owner.name),
            uid: rename(owner.uid),
          })),
        },
      });
      const { deployments, sets, machines } = suffix === "b" ? pool : atRest(10);
      return { deployments: deployments.map(copy), sets: sets.map(copy), machines: machines.map(copy) };
    });
    const all = {
      ...pool,
      deployments: [...pool.deployments, ...others.flatMap(({ deployments }) => deployments)],
      sets: [...pool.sets, ...others.flatMap(({ sets }) => sets)],
      machines: [...pool.machines, ...others.flatMap(({ machines }) => machines)],
    };
    expect(preview(all).waitsFor).toEqual([expect.stringMatching(/at most 15 of 30 machines of Namespace /)]);
  });
});
