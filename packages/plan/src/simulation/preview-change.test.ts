import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  createdAt,
  createRolloutModel,
  inPhase,
  named,
  ofClass,
  ownedBy,
  settle,
} from "@millwright/controllers/testing";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { PreviewObjects } from "./model-cluster.ts";
import { type ChangePreview, previewChange, type PreviewOptions } from "./preview-change.ts";

const now = new Date("2026-03-01T12:00:00Z");
const MINUTE = 60_000;

/** A deployment at rest with its sets, machines and nodes, and then changed. */
function atRest(
  before: readonly Change<MachineDeployment>[],
  ...changes: readonly Change<MachineDeployment>[]
): PreviewObjects {
  const model = createRolloutModel(aMachineDeployment(...before), { hasNodes: true });
  settle(model);
  for (const change of changes) model.change(change);
  return {
    deployments: [model.deployment()],
    sets: model.sets(),
    machines: model.machines(),
    nodes: model.nodes.all(),
  };
}

const preview = (objects: PreviewObjects, options: Partial<PreviewOptions> = {}): ChangePreview =>
  previewChange(objects, { kind: "MachineDeployment", name: "pool" }, { now, ...options });

/** A line for each step. */
const lines = ({ steps }: ChangePreview): string =>
  steps
    .map(({ afterMs, after, ...step }) => {
      const parts = [
        ...step.setsCreated.map(({ className }) => `new set of ${className}`),
        ...step.machinesCreated.map(({ count }) => `+${count}`),
        ...step.machinesDeleted.map(({ node }) => `-1${node === undefined ? "" : " with node"}`),
        ...step.machinesChanged.map(() => "changed"),
        ...step.machinesUpdated.map(() => "updated in place"),
        ...step.setsDeleted.map(() => "set deleted"),
        ...(step.nodesTainted.length > 0 ? [`${step.nodesTainted.length} avoided`] : []),
        ...(step.nodesUntainted.length > 0 ? [`${step.nodesUntainted.length} not avoided`] : []),
      ];
      return `${afterMs / MINUTE}m: ${parts.join(", ")} => ${after.current} new, ${after.old} old, ${after.terminating} terminating, ${after.available} available`;
    })
    .join("\n");

describe("previewChange", () => {
  it("finds nothing to do at rest", () => {
    expect(preview(atRest([]))).toMatchObject({ outcome: "nothing", steps: [], waitsFor: [], expectedMs: 0 });
  });

  it("shows a rolling update step by step, with its surge and its time", () => {
    const shown = preview(atRest([], ofClass("big")), { durations: { joinMs: 3 * MINUTE, deletionMs: 2 * MINUTE } });
    expect(lines(shown)).toMatchInlineSnapshot(`
      "0m: new set of big, +1, 3 avoided => 1 new, 3 old, 0 terminating, 3 available
      3m: -1 with node => 1 new, 2 old, 1 terminating, 3 available
      5m: +1 => 2 new, 2 old, 0 terminating, 3 available
      8m: -1 with node => 2 new, 1 old, 1 terminating, 3 available
      10m: +1 => 3 new, 1 old, 0 terminating, 3 available
      13m: -1 with node => 3 new, 0 old, 1 terminating, 3 available"
    `);
    expect(shown).toMatchObject({
      outcome: "completes",
      surge: { used: 1, allowed: 1 },
      minAvailable: 3,
      durations: { joinMs: 3 * MINUTE, deletionMs: 2 * MINUTE },
    });
    expect(shown.expectedMs).toBe(15 * MINUTE);
  });

  it("does not change its input", () => {
    const objects = atRest([], ofClass("big"));
    const before = structuredClone(objects);
    preview(objects);
    expect(objects).toEqual(before);
  });

  it("estimates joins from the machines, and deletions from events about deleted ones", () => {
    const objects = atRest([], ofClass("big"));
    const joins = ["2m", "10m", "3m"];
    const machines = objects.machines.map((machine, index) =>
      aMachine(machine, { status: { joinDuration: joins[index] ?? "" } }),
    );
    const { durations, expectedMs } = preview({ ...objects, machines });
    expect(durations).toEqual({ joinMs: 3 * MINUTE, deletionMs: undefined, finishedJoins: 3, finishedDeletions: 0 });
    expect(expectedMs).toBe(9 * MINUTE);
    const events = [
      {
        metadata: { name: "e" },
        involvedObject: { kind: "Machine", name: "old", uid: "old" },
        reason: "Deleting",
        message: "Drain successful; machine deleted after 2m0s",
      },
    ];
    expect(preview({ ...objects, machines, events })).toMatchObject({
      durations: { joinMs: 3 * MINUTE, deletionMs: 2 * MINUTE, finishedDeletions: 1 },
      expectedMs: 15 * MINUTE,
    });
    expect(preview(objects).durations).toEqual({
      joinMs: undefined,
      deletionMs: undefined,
      finishedJoins: 0,
      finishedDeletions: 0,
    });
  });

  it("counts only the remaining time of what has begun", () => {
    const objects = atRest([]);
    const machines = objects.machines.map((machine, index) =>
      index === 0 ? aMachine(machine, inPhase("Pending"), createdAt("2026-03-01T11:59:00Z")) : machine,
    );
    const shown = preview({ ...objects, machines }, { durations: { joinMs: 3 * MINUTE } });
    expect(shown).toMatchObject({ outcome: "nothing", expectedMs: 2 * MINUTE });
  });

  it("shows which machines a smaller size costs, in order", () => {
    const objects = atRest([], { spec: { replicas: 1 } });
    const machines = objects.machines.map((machine, index) =>
      index === 1 ? aMachine(machine, annotated({ [annotationKeys.machinePriority]: "1" })) : machine,
    );
    const { steps } = preview({ ...objects, machines });
    expect(steps[0]?.machinesDeleted.map(({ name }) => name)[0]).toBe(machines[1]?.metadata.name);
    expect(steps[0]?.machinesDeleted).toHaveLength(2);
  });

  it("shows the successor of a machine that a user deletes", () => {
    const objects = atRest([]);
    const machines = objects.machines.map((machine, index) =>
      index === 0 ? aMachine(machine, beingDeleted()) : machine,
    );
    expect(lines(preview({ ...objects, machines }))).toBe("0m: +1 => 3 new, 0 old, 1 terminating, 2 available");
  });

  it("shows how a deployment goes with all that it has", () => {
    const shown = preview(atRest([], beingDeleted()));
    expect(lines(shown)).toMatchInlineSnapshot(
      `"0m: -1 with node, -1 with node, -1 with node, set deleted => 0 new, 0 old, 3 terminating, 0 available"`,
    );
    expect(shown.outcome).toBe("completes");
  });

  it("shows a new deployment", () => {
    const shown = preview({
      deployments: [aMachineDeployment(named("pool"), { metadata: { finalizers: null } })],
      sets: [],
      machines: [],
      nodes: [],
    });
    expect(lines(shown)).toBe("0m: new set of small, +3 => 3 new, 0 old, 0 terminating, 0 available");
    expect(shown.outcome).toBe("completes");
  });

  it("distinguishes changes in place from replacements", () => {
    const shown = preview(atRest([], { spec: { template: { spec: { drainTimeout: "3h" } } } }));
    expect(lines(shown)).toBe("0m: changed, changed, changed => 3 new, 0 old, 0 terminating, 3 available");
  });

  it("shows updates in place on the nodes", () => {
    const inPlace: Change<MachineDeployment> = {
      spec: {
        strategy: {
          type: "InPlaceUpdate",
          rollingUpdate: null,
          inPlaceUpdate: { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto" },
        },
      },
    };
    const shown = preview(atRest([inPlace], ofClass("big")));
    expect(shown.outcome).toBe("completes");
    expect(shown.steps.flatMap(({ machinesUpdated }) => machinesUpdated)).toHaveLength(3);
    expect(
      shown.steps.flatMap(({ machinesCreated, machinesDeleted }) => [...machinesCreated, ...machinesDeleted]),
    ).toEqual([]);
  });

  it("goes through canary steps, and waits where a person is waited for", () => {
    const steps = annotated({ [annotationKeys.canarySteps]: "1/30m,2/pause" });
    const shown = preview(atRest([steps], ofClass("big")));
    expect(shown.outcome).toBe("waits");
    expect(shown.waitsFor).toEqual([expect.stringContaining("Rollout is paused at canary step 2 of 2")]);
    expect(lines(shown)).toContain("30m: ");
  });

  it("waits for maintenance windows", () => {
    const shown = preview(
      atRest([annotated({ [annotationKeys.maintenanceWindows]: "0 13 * * * 1h" })], ofClass("big")),
    );
    expect(shown.outcome).toBe("completes");
    expect(shown.steps.find(({ machinesCreated }) => machinesCreated.length > 0)?.afterMs).toBe(60 * MINUTE);
  });

  it("names the window that comes after a rollout has come to a stand, not the last one of the year", () => {
    const windows = annotated({ [annotationKeys.maintenanceWindows]: "0 13 * * * 1h" });
    const steps = (text: string): Change<MachineDeployment> => annotated({ [annotationKeys.canarySteps]: text });
    const waits = (text: string, joinMs: number): readonly string[] =>
      preview(atRest([windows, steps(text)], ofClass("big")), { durations: { joinMs } }).waitsFor;
    const next = "Rollout waits for the maintenance window that opens at 2026-03-02T13:00:00Z";
    const pause = (step: string): string => expect.stringContaining(`Rollout is paused at canary step ${step} `);
    // Between 13:00 and 14:00 the window does not hold it back.
    expect(waits("1/pause", MINUTE)).toEqual([pause("1 of 1")]);
    expect(waits("1/pause", 90 * MINUTE)).toEqual([pause("1 of 1"), next]);
    // The first step has had its time at 14:31, and the second is as large: nothing is done then.
    expect(waits("1/90m,10%/pause", MINUTE)).toEqual([pause("2 of 2"), next]);
  });

  it("does not look at every window of a year for what no window moves", () => {
    const windows = annotated({ [annotationKeys.maintenanceWindows]: "*/2 * * * * 1m" });
    const pause = annotated({ [annotationKeys.canarySteps]: "1/pause" });
    const shown = preview(atRest([windows, pause], ofClass("big")), { durations: { joinMs: MINUTE } });
    // A quarter of a million windows would be more than a preview looks at.
    expect(shown.outcome).toBe("waits");
    expect(shown.waitsFor[0]).toContain("Rollout is paused at canary step 1 of 1");
  });

  it("reports that it waits for old machines, a pause or an unhealthy machine", () => {
    const waits = (...changes: Change<MachineDeployment>[]): readonly string[] =>
      preview(atRest([], ofClass("big"), ...changes)).waitsFor;
    expect(waits(annotated({ [annotationKeys.onDelete]: "true" }))).toEqual([
      "Old machines are replaced only when they are deleted",
    ]);
    expect(waits({ spec: { paused: true } })).toEqual(["Rollout is paused"]);
    const objects = atRest([]);
    const machines = objects.machines.map((machine, index) =>
      index === 0 ? aMachine(machine, inPhase("CrashLoopBackOff")) : machine,
    );
    expect(preview({ ...objects, machines }).waitsFor).toEqual([
      `Machine ${machines[0]?.metadata.name} is CrashLoopBackOff, and is assumed to stay so`,
    ]);
  });

  it("reports what protects machines from deletion", () => {
    const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
    expect(preview(atRest([isKept], beingDeleted())).waitsFor).toEqual([
      expect.stringMatching(/^Deletion paused: MachineDeployment pool is protected\. .* remove annotation /),
    ]);
    const objects = atRest([], { spec: { replicas: 0 } });
    const machines = objects.machines.map((machine, index) => (index === 0 ? aMachine(machine, isKept) : machine));
    expect(preview({ ...objects, machines })).toMatchObject({
      outcome: "waits",
      waitsFor: [expect.stringContaining(`Cannot delete protected machines: ${machines[0]?.metadata.name}. To`)],
    });
  });

  it("reports that the end is unknown if machines take longer than the limit", () => {
    const shown = preview(atRest([], ofClass("big")), { durations: { joinMs: 367 * 24 * 60 * MINUTE } });
    expect(shown).toMatchObject({
      outcome: "unknown",
      waitsFor: ["The simulation ends: the rollout takes more than a year"],
    });
    expect(shown.steps).toHaveLength(1);
  });

  it("reports that the end is unknown if there are more machines than the limit", () => {
    const set = aMachineSet(named("alone"), { spec: { replicas: 50_001 } });
    const coming = aMachine(ownedBy(set), inPhase("Pending"));
    const machines = Array.from({ length: 50_001 }, (_, index) => ({
      ...coming,
      metadata: { ...coming.metadata, name: `alone-${index}` },
    }));
    const { outcome, waitsFor } = previewChange(
      { deployments: [], sets: [set], machines },
      { kind: "MachineSet", name: "alone" },
      { now },
    );
    expect(outcome).toBe("unknown");
    expect(waitsFor).toEqual(["The simulation ends: it has 50001 machines, more than the limit of 50000"]);
  });

  it("rejects what the controllers reject", () => {
    const shown = preview(atRest([], { spec: { template: { spec: { class: { name: "" } } } } }));
    expect(shown.outcome).toBe("rejected");
    expect(shown.problems.map(({ path }) => path)).toContain("spec.template.spec.class.name");
  });

  it("simulates a set without controller", () => {
    const set = aMachineSet(named("alone"));
    const shown = previewChange(
      { deployments: [], sets: [set], machines: [] },
      { kind: "MachineSet", name: "alone" },
      { now },
    );
    expect(lines(shown)).toBe("0m: +3 => 3 new, 0 old, 0 terminating, 0 available");
    expect(shown.outcome).toBe("completes");
  });

  it("leaves other deployments alone", () => {
    const objects = atRest([], ofClass("big"));
    const other = aMachineDeployment(named("other"), { spec: { selector: { matchLabels: { name: "other" } } } });
    const shown = preview({ ...objects, deployments: [...objects.deployments, other] });
    expect(shown.steps.flatMap(({ setsCreated }) => setsCreated)).toHaveLength(1);
    expect(shown.steps.some(({ machinesDeleted }) => machinesDeleted.some(({ node }) => node !== undefined))).toBe(
      true,
    );
  });
});
