import { deletionStages, markerOf, type Machine, phases } from "@millwright/core/machine-api";
import { expect, test } from "vitest";
import { aMachine } from "../testing/fleet.ts";
import { cleanText, cleanValue } from "./clean.ts";
import { lifecycleOf, lifecycleSteps } from "./lifecycle.ts";
import { deploymentRow, machineRow, setRow } from "./rows.ts";

const inPhase = (phase: string, change: Partial<Machine> = {}): Machine =>
  aMachine("m", { status: { currentStatus: { phase } }, ...change });

const stepOf = (machine: Machine, isHeld = false): string => {
  const { step, tone } = lifecycleOf(machine, isHeld);
  return `${lifecycleSteps[step]} ${tone}`;
};

test.each([
  ["", "Create VM busy"],
  ["CrashLoopBackOff", "Create VM bad"],
  ["Failed", "Create VM bad"],
])("a machine without a VM in phase %j is at: %s", (phase, step) => {
  expect(stepOf(inPhase(phase, { spec: {} }))).toBe(step);
});

test.each([
  ["CrashLoopBackOff", "Join bad"],
  ["Pending", "Join busy"],
  ["Running", "In service ok"],
  ["Available", "In service ok"],
  ["Unknown", "In service warn"],
  ["Failed", "In service bad"],
  ["InPlaceUpdating", "In service busy"],
  ["InPlaceUpdateFailed", "In service bad"],
  ["Terminating", "Drain busy"],
  ["SomethingNewer", "In service warn"],
])("a machine with a VM in phase %j is at: %s", (phase, step) => {
  expect(stepOf(inPhase(phase))).toBe(step);
});

test("each phase has a step", () => {
  for (const phase of Object.keys(phases))
    expect(lifecycleSteps[lifecycleOf(inPhase(phase), false).step]).toBeDefined();
});

const deleting = (description: string, state = "Processing"): Machine =>
  aMachine("m", {
    metadata: { ...aMachine("m").metadata, deletionTimestamp: "2026-01-02T00:00:00Z" },
    status: {
      currentStatus: { phase: "Terminating" },
      lastOperation: { description, state, type: "Delete", lastUpdateTime: "2026-01-02T00:05:00Z" },
    },
  });

test("a machine that is being deleted is at the step of its stage, never back", () => {
  const steps = deletionStages.map(({ name }) => lifecycleOf(deleting(`text ${markerOf(name)}`), false).step);
  expect(steps.map((step) => lifecycleSteps[step])).toEqual([
    "Drain",
    "Drain",
    "Detach",
    "Delete VM",
    "Remove",
    "Remove",
  ]);
});

test("a failed deletion stage is bad, and a held deletion needs attention", () => {
  const drain = markerOf("Drain");
  expect(stepOf(deleting(drain, "Failed"))).toBe("Drain bad");
  expect(stepOf(deleting(drain, "Failed"), true)).toBe("Drain warn");
});

test("a deletion stage is as old as its first record", () => {
  const first = machineRow(deleting(markerOf("Drain")), false);
  const later = deleting(`still ${markerOf("Drain")}`);
  const moved = {
    ...later,
    status: {
      ...later.status,
      lastOperation: { ...later.status?.lastOperation, lastUpdateTime: "2026-01-02T00:09:00Z" },
    },
  };
  expect(machineRow(moved, false, first).since).toBe("2026-01-02T00:05:00Z");
  expect(machineRow(moved, false).since).toBe("2026-01-02T00:09:00Z");
});

test("a deployment shows conditions that need attention in the words of the controllers", () => {
  const row = deploymentRow({
    metadata: { name: "pool", namespace: "ns" },
    spec: { replicas: 3, template: { spec: {} } },
    status: {
      readyReplicas: 2,
      conditions: [
        { type: "Available", status: "True", reason: "Enough", message: "" },
        { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", message: "two of three" },
        { type: "DeletionsHeld", status: "True", reason: "DeletionBudget", message: "7 deletions are held" },
        { type: "Frozen", status: "False" },
      ],
    },
  });
  expect(row).toMatchObject({
    desired: 3,
    ready: 2,
    progress: "ReplicaSetUpdated: two of three",
    attention: [{ type: "DeletionsHeld", reason: "DeletionBudget", message: "7 deletions are held" }],
  });
});

test.each([
  ["False", "ClassUnusable: Rollout waits for MachineClass gone"],
  ["True", "NewMachineSetCreated: Created new machine set"],
])("a deployment whose condition Ready is %s shows: %s", (status, progress) => {
  const row = deploymentRow({
    metadata: { name: "pool", namespace: "ns" },
    spec: { replicas: 3, template: { spec: {} } },
    status: {
      conditions: [
        { type: "Progressing", status: "True", reason: "NewMachineSetCreated", message: "Created new machine set" },
        { type: "Ready", status, reason: "ClassUnusable", message: "Rollout waits for MachineClass gone" },
      ],
    },
  });
  expect(row.progress).toBe(progress);
});

test("a set names the deployment that controls it", () => {
  const owner = { apiVersion: "v1", kind: "MachineDeployment", name: "pool", uid: "u", controller: true };
  const set = setRow({
    metadata: { name: "s", namespace: "ns", ownerReferences: [owner] },
    spec: { replicas: 2, template: { spec: {} } },
  });
  expect(set).toMatchObject({ deployment: "pool", desired: 2 });
});

test("a text of a megabyte is cut, and its writing direction is not changed", () => {
  const text = cleanText(`\u202Eevil\u2066${"x".repeat(1_000_000)}`, 300);
  expect(text).toMatch(/^\uFFFDevil\uFFFDx+… \(999706 more characters\)$/);
  expect(text.length).toBeLessThan(340);
});

test("a report is cut in every direction", () => {
  const wide = cleanValue(Array.from({ length: 100_000 }, (_, index) => ({ [`k\u202E${index}`]: index })));
  expect(JSON.stringify(wide).length).toBeLessThan(20_000);
  expect(JSON.stringify(wide)).not.toContain("\u202E");
  let deep: unknown = "end";
  for (let level = 0; level < 100_000; level++) deep = { deep };
  expect(JSON.stringify(cleanValue(deep)).length).toBeLessThan(1_000);
});

test("a machine has type and zone of its Node, and before it has joined those of its class", () => {
  const machineClass = { nodeTemplate: { capacity: {}, instanceType: "m5.large", region: "r", zone: "r-a" } };
  const labels = { "node.kubernetes.io/instance-type": "m5a.large", "topology.kubernetes.io/zone": "r-b" };
  const pending = inPhase("Pending", { spec: { class: { kind: "MachineClass", name: "small" } } });
  expect(machineRow(pending, false, undefined, { machineClass })).toMatchObject({
    className: "small",
    vmType: "m5.large",
    zone: "r-a",
  });
  const node = { metadata: { name: "n", labels } };
  expect(machineRow(pending, false, undefined, { machineClass, node })).toMatchObject({
    vmType: "m5a.large",
    zone: "r-b",
  });
  expect(machineRow(pending, false)).toMatchObject({ vmType: "", zone: "" });
});
