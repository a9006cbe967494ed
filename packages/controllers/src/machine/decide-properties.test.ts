import type { MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import {
  allowsTransition,
  annotationKeys,
  continueWith,
  deletionStages,
  finalizers,
  type MachinePhase,
  phaseOf,
  phases,
} from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../model/node-objects.ts";
import { aMachine, aMachineClass, aNode } from "../testing/builders.ts";
import { aDrainView } from "../testing/drain-views.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  later,
  machineAfter,
  pending,
  running,
  succeeded,
  testNow,
  unusable,
  waiting,
} from "../testing/snapshots.ts";
import { decideMachine } from "./decide.ts";
import type { MachineDecision } from "./state/decision.ts";
import type { OperationView } from "../model/operation.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";
import type { ClassView } from "../cluster/class-view.ts";

const kinds = fc.constantFrom("create", "initialize", "find", "delete");
const codes = fc.constantFrom(...(Object.keys(machineErrorCodes) as MachineErrorCode[]));
const operations: fc.Arbitrary<OperationView | undefined> = fc.oneof(
  fc.constant(undefined),
  kinds.map(running),
  fc
    .tuple(fc.constantFrom("create", "delete"), fc.constantFrom(-1, 0, 60_000))
    .map(([kind, checkAfterMs]) => pending(kind, "wiping disks", checkAfterMs)),
  fc.constantFrom(
    waiting("create"),
    waiting("create", { code: "ResourceExhausted", message: "quota" }),
    waiting("create", { code: "Unavailable", message: "busy" }),
  ),
  fc
    .tuple(kinds, fc.constantFrom("", "node"), fc.boolean())
    .map(([kind, nodeName, needsInitialization]) =>
      succeeded(kind, { providerId: "vm-1", nodeName, ...(needsInitialization ? { needsInitialization } : {}) }),
    ),
  fc
    .tuple(kinds, codes, fc.boolean(), fc.constantFrom("class-1/secret-1", "older"), fc.nat(700_000), fc.boolean())
    .map(([kind, code, isAcknowledged, inputs, ago, isTokenSpent]) =>
      failed(kind, code, { isAcknowledged, inputs, endedAt: testNow.getTime() - ago, isTokenSpent }),
    ),
);
const classViews = fc.constantFrom<ClassView>(
  { state: "usable", machineClass: aMachineClass() },
  {
    state: "usable",
    machineClass: aMachineClass(),
    unmetPrecondition: { reason: "InvalidSecret", problem: "no userData" },
  },
  unusable("MachineClassNotFound", "no class", true),
  unusable("InvalidMachineClass", "bad class"),
);
const descriptions = fc.oneof(
  fc.constantFrom("", "Created VM on cloud provider; waiting for its Node to join the cluster", "random"),
  fc
    .tuple(fc.constantFrom(...deletionStages.map(({ name }) => name)), fc.constantFrom(undefined, "x failed"))
    .map(([stage, happened]) => continueWith(stage, happened)),
);
const machines = fc
  .record({
    phase: fc.constantFrom(...Object.keys(phases), "Hibernating"),
    isGoing: fc.boolean(),
    isHeld: fc.constantFrom(true, true, true, false),
    providerID: fc.constantFrom("", "vm-1"),
    label: fc.constantFrom(null, "", "node"),
    force: fc.constantFrom(null, "True", "x"),
    type: fc.constantFrom("Create", "Delete", "HealthCheck"),
    state: fc.constantFrom("Processing", "Failed", "Successful"),
    description: descriptions,
    hadConditions: fc.boolean(),
    intent: fc.constantFrom(null, { attempt: 1 }, { attempt: 2, bootstrapToken: true }, { attempt: 1, staleNode: "x" }),
  })
  .map((draw) => {
    const change = {
      metadata: {
        labels: { node: draw.label, "force-deletion": draw.force },
        annotations: {
          [annotationKeys.creationIntent]:
            draw.intent === null ? null : JSON.stringify({ class: "small", provider: "mock", ...draw.intent }),
        },
        finalizers: draw.isHeld ? [finalizers.machine] : [],
        ...(draw.isGoing ? { deletionTimestamp: "2026-01-01T00:09:00Z" } : {}),
      },
      spec: { providerID: draw.providerID },
      status: {
        currentStatus: { phase: draw.phase },
        lastOperation: { type: draw.type, state: draw.state, description: draw.description },
        conditions: draw.hadConditions ? [{ type: "Ready", status: "True" }] : [],
      },
    };
    return aMachine(change);
  });
const nodes = fc.option(
  fc
    .record({ ready: fc.constantFrom("True", "False", "Unknown"), unschedulable: fc.boolean(), going: fc.boolean() })
    .map(({ ready, unschedulable, going }) =>
      itsNode({
        metadata: going ? { deletionTimestamp: "2026-01-01T00:09:30Z" } : { finalizers: [finalizers.node] },
        spec: { unschedulable },
        status: { conditions: [{ type: "Ready", status: ready }] },
      }),
    ),
  { nil: undefined },
);
const pods: fc.Arbitrary<readonly Pod[]> = fc.array(
  fc.record({ name: fc.constantFrom("a", "b", "c"), going: fc.boolean() }).map(({ name, going }) => ({
    metadata: {
      name,
      namespace: "default",
      uid: name,
      ...(going ? { deletionTimestamp: "2026-01-01T00:09:30Z" } : {}),
    },
  })),
  { maxLength: 3 },
);
const snapshots: fc.Arbitrary<MachineSnapshot> = fc
  .record({
    machine: machines,
    hasTarget: fc.boolean(),
    operation: operations,
    classView: classViews,
    node: nodes,
    sameNameNode: fc.constantFrom(
      undefined,
      ...(["same", "different", "unknown"] as const).map((match) => ({
        node: aNode({ metadata: { name: "node" } }),
        match,
      })),
    ),
    nodeMatch: fc.constantFrom("same" as const, "unknown" as const),
    wantsToken: fc.boolean(),
    pods,
    attachments: fc.constantFrom([], [{ metadata: { name: "va", uid: "va" } }]),
    problems: fc.constantFrom([], [{ path: "spec", message: "is wrong", kind: "invalid" as const }]),
  })
  .map(({ hasTarget, ...drawn }) =>
    aSnapshot(
      hasTarget
        ? { ...drawn, hasTarget }
        : { ...drawn, hasTarget, node: undefined, sameNameNode: undefined, pods: [], attachments: [] },
    ),
  );
const times = fc.constantFrom(testNow, later(15 * 60_000), later(3 * 3_600_000));

const removesFinalizer = ({ actions }: MachineDecision): boolean =>
  actions.some(
    (action) =>
      action.kind === "PatchMachine" &&
      "metadata" in action.patch &&
      JSON.stringify(action.patch.metadata).includes('"finalizers":[]'),
  );

/** Also those of machines whose VM belongs to another Machine: they have no node. */
const anySnapshots = fc
  .tuple(snapshots, fc.constantFrom(undefined, undefined, { name: "real", providerId: "vm-1" }))
  .map(([snapshot, holder]) =>
    holder === undefined
      ? snapshot
      : { ...snapshot, holder, node: undefined, drain: undefined, pods: [], attachments: [] },
  );

describe("whatever the snapshot", () => {
  it("takes only ways from phase to phase that the table has", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        const { status } = decideMachine(snapshot, now);
        if (status === undefined) return;
        const from = phaseOf(snapshot.machine);
        const to = phaseOf({ status });
        if (from === to) return;
        seen.add(`${from}>${to}`);
        // A phase of another version is only ever left for Terminating.
        expect(from === undefined ? to : allowsTransition(from, to as MachinePhase), `${from} to ${to}`).toBe(
          from === undefined ? "Terminating" : true,
        );
      }),
      { numRuns: 4_000 },
    );
    // The property is worth something only if the ways are taken.
    expect(seen.size).toBeGreaterThan(10);
  });

  it("decides the same twice, and changes nothing of what it read", () => {
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        const before = JSON.stringify(snapshot);
        const decision = decideMachine(snapshot, now);
        expect(decideMachine(snapshot, now)).toEqual(decision);
        expect(JSON.stringify(snapshot)).toBe(before);
        expect(JSON.parse(JSON.stringify(decision.actions))).toEqual(decision.actions);
      }),
      { numRuns: 1_000 },
    );
  });

  it("converges: a written status is not written again while nothing happens", () => {
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        let machine = snapshot.machine;
        const written: (object | undefined)[] = [];
        for (let round = 0; round < 6; round++) {
          const { status } = decideMachine({ ...snapshot, machine }, now);
          written.push(status);
          machine = machineAfter({ ...snapshot, machine }, { actions: [], because: [], ...(status && { status }) });
        }
        expect(written[5]).toEqual(written[4]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("never requeues at an invalid or past time", () => {
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        const { requeueAfterMs = 0 } = decideMachine(snapshot, now);
        expect(requeueAfterMs).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1_000 },
    );
  });

  it("starts a driver call only with a usable class, and one at a time", () => {
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        const calls = decideMachine(snapshot, now).actions.filter(({ kind }) => kind === "StartOperation");
        const mayCall = snapshot.classView.state === "usable" && snapshot.operation?.state !== "running";
        // One that waits is taken back first.
        const isCrossed = snapshot.operation?.state === "waiting" && calls.length > 0;
        expect(isCrossed && !kindsOf(decideMachine(snapshot, now)).includes("CancelOperation")).toBe(false);
        expect(calls.length).toBeLessThanOrEqual(mayCall ? 1 : 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it("creates no VM for a machine that has one, is Failed or terminating", () => {
    fc.assert(
      fc.property(anySnapshots, times, (snapshot, now) => {
        const { machine } = snapshot;
        const mayCreate =
          machine.spec.providerID === "" &&
          phaseOf(machine) !== "Failed" &&
          machine.metadata.deletionTimestamp === undefined &&
          machine.metadata.finalizers?.includes(finalizers.machine) === true;
        const creates = decideMachine(snapshot, now).actions.some(
          (action) => action.kind === "StartOperation" && action.operation === "create",
        );
        expect(creates && !mayCreate).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a deletion", () => {
  const isPast = ({ machine }: MachineSnapshot): boolean => {
    const { description = "", type } = machine.status?.lastOperation ?? {};
    return (
      phaseOf(machine) === "Terminating" &&
      type === "Delete" &&
      /(Initiate node object deletion|Initiate machine object finalizer removal)$/.test(description)
    );
  };

  it("removes the finalizer only when the VM is certainly deleted, or there never was one", () => {
    let removals = 0;
    fc.assert(
      fc.property(snapshots, times, (snapshot, now) => {
        if (snapshot.machine.metadata.deletionTimestamp === undefined) return;
        if (!removesFinalizer(decideMachine(snapshot, now))) return;
        removals++;
        const { operation, classView, machine } = snapshot;
        const isDeleted =
          operation?.kind === "delete" &&
          (operation.state === "done" || (operation.state === "failed" && operation.code === "NotFound"));
        const neverWas =
          machine.spec.providerID === "" &&
          classView.state === "unusable" &&
          ((classView.isMissing && machine.metadata.annotations?.[annotationKeys.creationIntent] === undefined) ||
            machine.metadata.labels?.["force-deletion"] === "True");
        expect(isDeleted || neverWas || isPast(snapshot)).toBe(true);
        expect(operation?.kind === "create" && (operation.state === "running" || operation.state === "done")).toBe(
          false,
        );
      }),
      { numRuns: 4_000 },
    );
    expect(removals).toBeGreaterThan(10);
  });

  it("never deletes the node before the VM", () => {
    fc.assert(
      fc.property(snapshots, times, (snapshot, now) => {
        const kinds = new Set(decideMachine(snapshot, now).actions.map(({ kind }) => kind));
        expect(kinds.has("DeleteNode") && kinds.has("StartOperation")).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("ends from wherever it starts when driver and cluster do their part", () => {
    fc.assert(
      fc.property(snapshots, (start) => {
        const { machine: drawn } = start;
        if (drawn.metadata.deletionTimestamp === undefined) return;
        let snapshot: MachineSnapshot = {
          ...start,
          classView: { state: "usable", machineClass: aMachineClass() },
          machine: aMachine(drawn, { metadata: { finalizers: [finalizers.machine] } }),
        };
        let now = testNow;
        for (let round = 0; round < 40; round++) {
          const decision = decideMachine(snapshot, now);
          if (removesFinalizer(decision)) return;
          snapshot = obey(snapshot, decision);
          now = new Date(now.getTime() + Math.min(decision.requeueAfterMs ?? 0, 600_000) + 1);
        }
        expect.unreachable(`stuck at: ${snapshot.machine.status?.lastOperation?.description}`);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The cluster after a decision, with all of its actions done at once. */
function obey(snapshot: MachineSnapshot, decision: MachineDecision): MachineSnapshot {
  let { node, pods, operation } = snapshot;
  // What ran has ended by now.
  if (operation?.state === "running") operation = succeeded(operation.kind, { providerId: "vm-1", nodeName: "node" });
  for (const action of decision.actions) {
    if (action.kind === "StartOperation")
      operation = succeeded(action.operation, { providerId: "vm-1", nodeName: "node" });
    if (action.kind === "AcknowledgeOperation")
      operation = operation?.state === "failed" ? { ...operation, isAcknowledged: true } : undefined;
    if (action.kind === "PatchNode" && node !== undefined)
      node = { ...node, spec: { ...node.spec, unschedulable: true } };
    if (action.kind === "DeleteNode") node = undefined;
    if (action.kind === "EvictPod" || action.kind === "DeletePod")
      pods = pods.filter(({ metadata }) => metadata.name !== action.name);
  }
  // Terminating pods come to their end by themselves.
  if (decision.actions.length === 0) pods = [];
  const drain = node === undefined ? undefined : aDrainView({ node, pods });
  return { ...snapshot, machine: machineAfter(snapshot, decision), node, pods, drain, operation };
}
