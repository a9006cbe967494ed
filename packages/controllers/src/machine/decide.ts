import { finalizers, formatProblems, machineEventReasons, phaseOf } from "@millwright/core/machine-api";
import { addFinalizerPatch } from "@millwright/kube";
import { hasId, needsCreation } from "../model/provisioning.ts";
import { decideCreation } from "./creation/decide-creation.ts";
import { decideInitialization } from "./creation/decide-initialization.ts";
import { isInitializationDue } from "../model/initialization.ts";
import { intentAnnotation, noRequestAnnotation, readIntent } from "../model/creation-intent.ts";
import { unmetPrecondition } from "./creation/reject-machine.ts";
import { plannedIntent } from "./creation/start-creation.ts";
import { decideDeletion } from "./deletion/decide-deletion.ts";
import { hasConflict, withoutConflict } from "./holds/conflict.ts";
import { decideHeld } from "./holds/decide-held.ts";
import { withEndOfRefusal } from "./decide-refused.ts";
import { decideHealth } from "./health/decide-health.ts";
import { releaseOtherNodes } from "./health/several-nodes.ts";
import { decideNodeSync } from "./node-sync/decide-node-sync.ts";
import { decideInPlace } from "./in-place/decide-in-place.ts";
import { runSteps } from "./state/run-steps.ts";
import { type MachineDecision, nothing } from "./state/decision.ts";
import { decidePreservation } from "./preservation/decide-preservation.ts";
import { awaitedStartupOf, isFirstJoin } from "../model/node-taints.ts";
import { statusOf } from "../model/status-change.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/**
 * Decides the next step of a Machine, which is being deleted, is being created, or follows its
 * node. The finalizer is added before anything that could orphan a VM.
 */
export const decideMachine = (snapshot: MachineSnapshot, now: Date): MachineDecision =>
  withEndOfRefusal(snapshot, decideStep(snapshot, now), now);

function decideStep(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine } = snapshot;
  // Neither the VM nor the stage of the deletion is known: any step could orphan a VM or create a second one.
  if (!snapshot.isReadable) {
    const message = formatProblems(snapshot.problems);
    return { actions: [], because: [{ type: "Warning", reason: machineEventReasons.invalidMachine, message }] };
  }
  if (snapshot.operation?.state === "waiting" && !mayStillBeMade(snapshot)) {
    const decision = decideStep({ ...snapshot, operation: undefined }, now);
    return { ...decision, actions: [{ kind: "CancelOperation" }, ...decision.actions] };
  }
  if (snapshot.hold !== undefined) return decideHeld(snapshot, snapshot.hold, now);
  if (hasConflict(machine)) return endConflict(snapshot, now);
  if (machine.metadata.deletionTimestamp != null) return withTokenRemoval(snapshot, decideDeletion(snapshot, now));
  if (machine.metadata.finalizers?.includes(finalizers.machine) !== true) {
    return { actions: [{ kind: "PatchMachine", patch: firstPatch(snapshot) }], because: [] };
  }
  return decideLiving(snapshot, now);
}

/** Creates the VM of a machine, or follows its node. */
function decideLiving(snapshot: MachineSnapshot, now: Date): MachineDecision {
  if (needsCreation(snapshot))
    return withTokenRemoval(snapshot, withQuickJoin(snapshot, decideWithoutVm(snapshot, now), now));
  // The VM of a Failed machine that is not replaced, such as one without a set, can still become usable.
  const isUninitialized = snapshot.hasTarget && isInitializationDue(snapshot.machine, snapshot.operation);
  if (isUninitialized) return runSteps(snapshot, now, [decideHealth, decideFailedInitialization, decidePreservation]);
  const decision = runSteps(snapshot, now, [
    decideHealth,
    releaseOtherNodes,
    decideNodeSync,
    decideInPlace,
    decidePreservation,
  ]);
  return withTokenRemoval(snapshot, withJoinedNode(snapshot, decision));
}

/**
 * A machine that becomes Running for the first time gives its Node labels, taints and finalizer before, in the same reconcile: a rollout counts on them, and must not go on to the next machine while the
 * API server refuses them. Virtual capacity follows.
 */
function withJoinedNode(snapshot: MachineSnapshot, decision: MachineDecision): MachineDecision {
  const { status } = decision;
  const isJoin = isFirstJoin(snapshot.machine) && phaseOf(snapshot.machine) !== "Running";
  if (status === undefined || phaseOf({ status }) !== "Running" || !isJoin) return decision;
  const { actions: all, because } = decideNodeSync(snapshot);
  const actions = all.filter(({ kind }) => kind === "PatchNode");
  if (actions.length === 0) return decision;
  return { ...decision, actions: [...decision.actions, ...actions], because: [...decision.because, ...because] };
}

/** A Node that joins so soon after the creation of the VM makes the machine Running without a write of Pending before, milliseconds. */
const QUICK_JOIN_MS = 1_000;

/** The first status of a machine that has a VM: Running at once where its Node has joined. Where it has not, the status waits a little for it, and the outcome of the driver call is kept in memory. */
function withQuickJoin(snapshot: MachineSnapshot, decision: MachineDecision, now: Date): MachineDecision {
  const { machine, operation, node } = snapshot;
  const { status, ...others } = decision;
  const isFirst = status !== undefined && phaseOf({ status }) === "Pending" && phaseOf(machine) === "";
  if (!isFirst || operation?.state !== "done") return decision;
  const leftMs = Math.min(operation.endedAt + QUICK_JOIN_MS - now.getTime(), QUICK_JOIN_MS);
  // The ids, by which the Node is found, are stored first.
  if (leftMs > 0 && !hasId(machine)) {
    const actions = others.actions.filter(({ kind }) => kind !== "AcknowledgeOperation");
    return { ...others, actions, requeueAfterMs: leftMs };
  }
  const joined = node === undefined ? nothing : decideHealth({ ...snapshot, machine: { ...machine, status } }, now);
  if (joined.status !== undefined && phaseOf({ status: joined.status }) === "Running")
    return withJoinedNode(snapshot, {
      ...joined,
      actions: [...others.actions, ...joined.actions],
      because: [...others.because, ...joined.because],
    });
  return leftMs > 0 ? { ...nothing, requeueAfterMs: leftMs } : decision;
}

/** Whether a throttled creation is still needed: meanwhile the machine may have been deleted, have failed, or have got a VM. */
function mayStillBeMade(snapshot: MachineSnapshot): boolean {
  const { machine } = snapshot;
  return (
    machine.metadata.deletionTimestamp === undefined &&
    needsCreation(snapshot) &&
    !hasId(machine) &&
    readIntent(machine)?.staleNode === undefined
  );
}

/** The VM is the machine's now, or again. A status cannot be written after the finalizer was removed. */
function endConflict(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const machine = withoutConflict(snapshot.machine);
  const decision = decideStep({ ...snapshot, machine }, now);
  const isLast = machine.metadata.deletionTimestamp != null;
  return isLast || decision.status !== undefined ? decision : { ...decision, status: statusOf(machine) };
}

/** Adds the finalizer and, in the same write, the intent of the creation, or the record that no VM was requested. */
function firstPatch(snapshot: MachineSnapshot): object {
  const { machine } = snapshot;
  const patch = addFinalizerPatch(machine, finalizers.machine);
  if (!needsCreation(snapshot) || hasId(machine)) return patch;
  const withAnnotations = (annotations: Readonly<Record<string, string>>): object => ({
    metadata: { ...patch.metadata, annotations },
  });
  const intent = unmetPrecondition(snapshot) === undefined ? plannedIntent(snapshot) : undefined;
  if (intent !== undefined) return withAnnotations(intentAnnotation(intent));
  // A machine with a phase lost its finalizer: a VM may have been requested.
  return phaseOf(machine) === "" && readIntent(machine) === undefined ? withAnnotations(noRequestAnnotation) : patch;
}

/** Continues the initialization of a VM that is known to be uninitialized. */
const decideFailedInitialization = (snapshot: MachineSnapshot, now: Date): MachineDecision =>
  snapshot.operation?.state === "running" ? nothing : decideInitialization(snapshot, now);

/** Sets the startup taints of the template, without which the machine is not Running. */
const decideStartup = (snapshot: MachineSnapshot): MachineDecision =>
  awaitedStartupOf(snapshot.machine, snapshot.node) === undefined ? nothing : decideNodeSync(snapshot);

/** The node may be healthy although the driver fails to report its VM (row 6 of the phase transitions), unless the VM is known to be uninitialized. */
function decideWithoutVm(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  if (node === undefined || !hasId(machine) || phaseOf(machine) !== "CrashLoopBackOff")
    return runSteps(snapshot, now, [decideCreation, decidePreservation]);
  return runSteps(snapshot, now, [decideHealth, decideCreation, decideStartup, decidePreservation]);
}

/**
 * Adds the removal of the bootstrap token to the decision after which it is unused: the node joined, or the machine is terminating (MCM, `pkg/util/provider/machinecontroller/userdata.go`). When that
 * decision is lost, the token expires.
 */
function withTokenRemoval(snapshot: MachineSnapshot, decision: MachineDecision): MachineDecision {
  const { machine, hasTarget } = snapshot;
  const { status } = decision;
  if (!hasTarget || status === undefined || readIntent(machine)?.bootstrapToken !== true) return decision;
  const [from, to] = [phaseOf(machine), phaseOf({ status })];
  const isJoined = to === "Running" && (from === "" || from === "Pending" || from === "CrashLoopBackOff");
  const isTerminating = to === "Terminating" && from !== "Terminating" && decision.isStatusBrief !== true;
  return isJoined || isTerminating
    ? { ...decision, actions: [...decision.actions, { kind: "RemoveBootstrapToken" }] }
    : decision;
}
