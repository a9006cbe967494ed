import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
  type MachineSetStatus,
  selectorMatches,
} from "@millwright/core/machine-api";
import {
  type Controller,
  controllerRefOf,
  createExpectations,
  fulfillFromStore,
  isConflict,
  keyOf,
  messageOf,
  type Refusal,
  priorityOfChange,
  watchTriggers,
  watchOrphaningOwners,
  confirmOwnerOnce,
} from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { lastingRefusal, refusalText, reportRefusal } from "../cluster/refused-writes.ts";
import { findVmHolder } from "../cluster/find-vm-holder.ts";
import { createMatchNode } from "../cluster/node-candidates.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { createStatusUpdateThrottle } from "../conditions/status-update-throttle.ts";
import { createMachineJudge } from "../conditions/group/judged-machine.ts";
import { observeConditionInputs } from "../conditions/owner/condition-inputs.ts";
import { decideGuarded } from "../guards/decide-guarded.ts";
import { ownerGuards } from "../guards/owner-guards.ts";
import { lostDeploymentGuard } from "../guards/lost-owner.ts";
import { type LostMachines, trackLostMachines } from "../ownership/lost-machines.ts";
import { createLostSets } from "../ownership/lost-sets.ts";
import { createOwningController } from "../ownership/owning-controller.ts";
import type { OwnerlessVms, VmCensus } from "../model/vm-census.ts";
import type { VmOwners } from "../model/vm-holder.ts";
import { releaseOf } from "../safety/released-machines.ts";
import { defaultOvershootMargins, type OvershootMargins } from "../safety/overshoot-limits.ts";
import { createMachineSetActor } from "./act.ts";
import { withSetConditions } from "./cluster-api-conditions.ts";
import { changesReplicas } from "./decide.ts";
import { decideWithVms } from "./decide-with-vms.ts";
import { observeMachineSet } from "./observe.ts";
import { createConfirmSize, needsSize } from "./confirm-size.ts";
import { expectedReplicasOf, isUnverified, missingOf, machineCrdOf } from "./expected-replicas.ts";
import { decideHeld } from "./decide-held.ts";
import { refusedSetStatus } from "./refused-status.ts";
import type { MachineSetAction, MachineSetDecision, MachineSetSnapshot, Pending, SetMemory } from "./snapshot.ts";
import type { ReplicaFailure } from "./status.ts";
import { trackUnexplainedSets } from "./unexplained-sets.ts";
import { settleUnanswered } from "./unanswered-requests.ts";
import { trackVanishedMachines } from "./vanished-machines.ts";
import { fixed, type Live } from "../model/live.ts";

/** How long a creation or deletion without a response may still succeed, milliseconds: an API server ends a request after one minute. Its outcome is read then. */
const UNANSWERED_MS = 90_000;

/** How soon the size of a set is confirmed again, milliseconds: its deployment's controller is about to write it. */
const SIZE_RETRY_MS = 5_000;

/** Without a census none is known. */
const noVms: OwnerlessVms = { state: "known", count: 0 };

/** Requests that the API server rejected in one reconcile. */
interface Rejections {
  readonly errors: unknown[];
  /** The first that concerns the number of machines. */
  failure: ReplicaFailure | undefined;
  /** The last refused write that concerns anything else. */
  refusal: Refusal | undefined;
}

/** Whether nothing follows an action that failed. */
const endsReconcile = ({ kind }: MachineSetAction): boolean =>
  kind === "AddFinalizer" || kind === "PatchSet" || kind === "UseApproval";

/** Reports that the API server rejected the creation or deletion of machines. */
function recordRejection(
  { events }: Pick<ControllerContext, "events">,
  set: MachineSet,
  reason: ReplicaFailure["reason"],
  error: unknown,
): ReplicaFailure {
  const message = messageOf(error);
  const doing = reason === "FailedCreate" ? "creating" : "deleting";
  events.record(set, { type: "Warning", reason, message: `Error ${doing}: ${message}` });
  return { reason, message };
}

/** Enters the deletions of a decision, and records what is held. */
function enterDeletions(
  budget: ControllerContext["deletionBudget"],
  key: string,
  { begins = [], held, uses }: MachineSetDecision,
): void {
  for (const { machine, cause, isApproved = false } of begins) budget?.enter(machine, cause, isApproved);
  if (uses !== undefined) budget?.useApproval(uses);
  budget?.recordHeld(key, held);
}

/** Undoes {@link enterDeletions}: none of the requests was sent. */
function revokeDeletions(budget: ControllerContext["deletionBudget"], { begins = [], uses }: MachineSetDecision): void {
  for (const { machine } of begins) budget?.revoke(machine.metadata.uid ?? "");
  if (uses !== undefined) budget?.useApproval({ ...uses, count: -uses.count });
}

/** Which sets a machine concerns. */
function keysConcernedBy(machine: Machine, { caches, namespace }: ControllerContext, lost: LostMachines): string[] {
  const owner = controllerRefOf(machine);
  if (owner !== undefined && !lost.isMissing(owner))
    return owner.kind === "MachineSet" ? [`${namespace}/${owner.name}`] : [];
  // A machine without an owner that exists may belong to any set that selects it, and counts for the one that released it.
  const formerSet = releaseOf(machine)?.ownerUid;
  return caches.sets.store
    .list(namespace)
    .filter(
      ({ metadata, spec }) =>
        (formerSet !== undefined && metadata.uid === formerSet) ||
        selectorMatches(spec.selector, machine.metadata.labels),
    )
    .map((set) => `${namespace}/${set.metadata.name}`);
}

/**
 * Creates the controller of MachineSets: it maintains the number of machines that a set declares.
 *
 * @param margins of the overshooting protection
 * @param census VMs that exist. Default: none is known
 * @param vmOwners for which machines VMs were created that several name. Default: not known
 */
export function createMachineSetController(
  context: ControllerContext,
  workers: number,
  margins: Live<OvershootMargins> = fixed(defaultOvershootMargins),
  census?: VmCensus,
  vmOwners?: Pick<VmOwners, "ownerOf">,
): Controller {
  const { caches, namespace, control, clock, deletionBudget } = context;
  const sets = createControlWriter<MachineSet>(context, machineSetResource, caches.sets.store);
  const deployments = createControlWriter<MachineDeployment>(
    context,
    machineDeploymentResource,
    caches.deployments.store,
  );
  /** Rejected creations and deletions by key of the set, until one succeeds or none is needed; reported in condition ReplicaFailure. */
  const failures = new Map<string, ReplicaFailure>();
  /** Machines that the last reconcile of a set saw, by its key: the status, which is not written each time, may contain fewer. */
  const counts = new Map<string, number>();
  const vanished = trackVanishedMachines(caches.machines, clock);
  const unexplained = trackUnexplainedSets();
  const orphaning = watchOrphaningOwners(caches.sets.store);
  /** Released machines that the last reconcile of a set saw, by its key, and that this one sees. */
  const releases = new Map<string, number>();
  const releasesNow = new Map<string, number>();
  /** Creations by key of the set that are in flight, or that ended without a response. */
  const expectations = createExpectations({
    clock,
    timeoutMs: UNANSWERED_MS,
    onDeletionRejected: (uid) => deletionBudget?.revoke(uid),
  });

  const lost = trackLostMachines(context);
  const lostSets = createLostSets(context);
  /** Lost machines of a set, by its key, that are recorded on it. A user may remove the record: it is not written again for the same machines. */
  const recorded = new Map<string, number>();
  const act = createMachineSetActor({
    context,
    sets,
    deployments,
    expectations,
    again: (key) => controller.enqueue(key),
    lost,
  });

  const pendingOf = (key: string): Pending | undefined => {
    const outstanding = expectations.outstanding(key);
    if (outstanding === undefined) return undefined;
    const { creations, deletions, overdueInMs } = outstanding;
    return { count: creations.length, leaving: new Set(deletions), overdueInMs };
  };

  /**
   * Executes one action. A rejected request for one machine must not block the requests for others, above all not a creation a
   * deletion: it is kept for the end of the reconcile.
   */
  const attempt = async (
    set: MachineSet,
    action: MachineSetAction,
    confirmOwner: () => Promise<void>,
    rejected: Rejections,
  ): Promise<void> => {
    try {
      await act(set, action, confirmOwner);
    } catch (error) {
      rejected.errors.push(error);
      // The machine has changed since it was read: the next reconcile decides again.
      if (action.kind === "DeleteMachine" && isConflict(error)) return;
      if (action.kind === "CreateMachines") rejected.failure ??= recordRejection(context, set, "FailedCreate", error);
      else if (action.kind === "DeleteMachine")
        rejected.failure ??= recordRejection(context, set, "FailedDelete", error);
      else if (endsReconcile(action)) throw error;
      else rejected.refusal = lastingRefusal(error) ?? rejected.refusal;
    }
  };

  const classOf = ({ spec }: MachineSet): string => spec.template.spec.class?.name ?? "";
  /** Only of a set that was restored from a file, or scaled down to less than it had: it may request a list of VMs. */
  const lostVmsOf = (set: MachineSet, isUnexplained: boolean, count: number): OwnerlessVms | undefined => {
    const isScaledDown = isUnexplained && count >= (set.spec.replicas ?? 0) && expectedReplicasOf(set) === undefined;
    if (!isUnverified(set) && !isScaledDown) return undefined;
    const vms = census?.lostOf(classOf(set), set.metadata.name) ?? noVms;
    // What is missing does not exist.
    if (isScaledDown && vms.state === "known" && vms.count === 0) unexplained.settle(keyOf(set));
    return vms;
  };

  const match = createMatchNode(caches, namespace, context.matchVm);
  const belongsToOther = (machine: Machine): boolean =>
    findVmHolder(machine, machine.spec.providerID ?? "", { ...context, vmOwners }, match) !== undefined;

  const isSizeConfirmed = createConfirmSize(context);
  const judge = createMachineJudge();
  const decide = (set: MachineSet): MachineSetDecision => {
    const key = keyOf(set);
    // Recorded on the set, from which a user may remove it.
    if (expectedReplicasOf(set) !== undefined) {
      vanished.forget(key);
      unexplained.settle(key);
    }
    const { length: count } = caches.machines.store.byIndex("owner", set.metadata.uid ?? "");
    const isUnexplained = unexplained.observe(set, count);
    const memory: SetMemory = {
      failure: failures.get(key),
      pending: pendingOf(key),
      countBefore: counts.get(key),
      releasedBefore: releases.get(key),
      lostBefore: recorded.get(key),
      isUnexplained,
      vanished: vanished.countOf(key),
    };
    const observed = observeMachineSet(context, set, lost);
    const className = classOf(set);
    const snapshot: MachineSetSnapshot = {
      ...observed,
      memory,
      machineCrd: machineCrdOf(context),
      orphaning: orphaning.stateOf(set),
      isLost: lostSets.isLost(set),
      lostVms: lostVmsOf(set, isUnexplained, count),
      belongsToOther,
      margins: margins.current(),
      budget: deletionBudget?.ofSet(set, observed.deployment),
      // Only where a set waits for machines: it may request a list of VMs.
      hasNoOwnerlessVms: missingOf(observed) > 0 && census?.hasNoOwnerless(className) === true,
    };
    releasesNow.set(key, snapshot.claim.released?.length ?? 0);
    if (expectedReplicasOf(set) !== undefined) recorded.set(key, snapshot.claim.lost?.length ?? 0);
    const now = clock.now();
    const inputs = observeConditionInputs(context, set, snapshot.claim.owned, snapshot.nodes, judge);
    const ownerless = (count: number): OwnerlessVms => census?.ownerless(className, count) ?? noVms;
    return withSetConditions(decideWithVms(snapshot, ownerless, now), snapshot, inputs, now);
  };
  /** In one turn of the event loop: otherwise two sets could use the same budget. */
  const decideAndEnter = (set: MachineSet): MachineSetDecision => {
    const decision = decide(set);
    enterDeletions(deletionBudget, keyOf(set), decision);
    return decision;
  };
  const guards = [...ownerGuards(context, "MachineSet"), lostDeploymentGuard(lostSets)];
  const pace = createStatusUpdateThrottle<MachineSetStatus>(clock, (status, change) => ({
    ...status,
    availableReplicas: 0,
    fullyLabeledReplicas: 0,
    readyReplicas: 0,
    replicas: 0,
    machineSetCondition: (status.machineSetCondition ?? []).map(change),
  }));

  const remember = (key: string, { status }: MachineSetDecision): void => {
    if (status?.replicas !== undefined) counts.set(key, status.replicas);
    releases.set(key, releasesNow.get(key) ?? 0);
  };
  const forget = (key: string): void => {
    for (const remembered of [failures, counts, recorded, releases, releasesNow]) remembered.delete(key);
    unexplained.forget(key);
    expectations.forget(key);
    pace.forget(key);
    deletionBudget?.recordHeld(key, undefined);
  };
  const keysOfMachine = (machine: Machine): string[] => keysConcernedBy(machine, context, lost);
  const keysOfClass = (name: string): string[] =>
    caches.sets.store
      .list(namespace)
      .filter(({ spec }) => spec.template.spec.class?.name === name)
      .map(keyOf);
  census?.onChange((name) => {
    for (const key of keysOfClass(name)) controller.enqueue(key);
  });

  const controller = createOwningController(context, {
    name: "machine-set",
    workers,
    store: caches.sets.store,
    guards,
    keysOfMachine,
    machinesOf: ({ metadata: { uid = "" } }) => caches.machines.store.byIndex("owner", uid).length,
    keysOfClass,
    reconcile: async (key) => {
      if (expectations.outstanding(key)?.overdueInMs === 0) await settleUnanswered(key, expectations, context);
      const decided = await decideGuarded({
        guards,
        read: () => caches.sets.store.get(key),
        decide: decideAndEnter,
        decideHeld: (each, hold) =>
          decideHeld(each, observeMachineSet(context, each, lost).claim.owned, hold, clock.now()),
      });
      if (decided === undefined) {
        forget(key);
        return { done: true };
      }
      const { object: set } = decided;
      if (needsSize(set, decided.decision) && !(await isSizeConfirmed(set))) {
        revokeDeletions(deletionBudget, decided.decision);
        return { requeueAfterMs: SIZE_RETRY_MS };
      }
      const decision = pace.hold(key, set.status, decided.decision);
      if (!changesReplicas(decision.actions)) failures.delete(key);
      if (decision.actions.some(({ kind }) => kind === "CreateMachines")) unexplained.settle(key);
      const confirmOwner = confirmOwnerOnce(control, machineSetResource, set);
      const rejected: Rejections = { errors: [], failure: undefined, refusal: undefined };
      const refusedStatus = (refusal: Refusal, status: MachineSetStatus | undefined): MachineSetStatus =>
        refusedSetStatus(status, set, refusalText(refusal), clock.now());
      const carryOutOne = (action: MachineSetAction): Promise<void> =>
        attempt(set, action, confirmOwner, rejected).catch((error: unknown) => {
          // Such actions come first.
          revokeDeletions(deletionBudget, decided.decision);
          throw error;
        });
      const result = await carryOut(decision, carryOutOne, {
        object: set,
        writer: sets,
        events: context.events,
        log: context.log,
        statusAfter: (decidedStatus) => {
          if (rejected.failure !== undefined) failures.set(key, rejected.failure);
          // Later reconciles may fail, too: report it now.
          const status = rejected.failure === undefined ? decidedStatus : decide(set).status;
          return rejected.refusal === undefined ? status : refusedStatus(rejected.refusal, status);
        },
        refusedStatus: (refusal) => refusedStatus(refusal, decision.status),
      });
      if (rejected.refusal !== undefined) reportRefusal(set, rejected.refusal, context.events);
      // After everything else: a reconcile that failed to freeze the set must see the same growth again.
      remember(key, decided.decision);
      if (rejected.failure === undefined && changesReplicas(decision.actions) && failures.delete(key))
        controller.enqueue(key);
      if (rejected.errors.length > 0) throw rejected.errors[0];
      return result;
    },
  });

  // Before the triggers: a reconcile that a machine triggers finds its creation observed.
  fulfillFromStore({
    expectations,
    store: caches.machines.store,
    ownerOf: (machine) => {
      const owner = controllerRefOf(machine);
      return owner?.kind === "MachineSet" ? `${namespace}/${owner.name}` : undefined;
    },
  });
  watchTriggers({ store: caches.machines.store, controller, keys: keysOfMachine });
  lost.onLost((machine) => {
    for (const key of keysOfMachine(machine)) controller.enqueue(key);
  });
  // Its size and surge bound its sets. Its status concerns none.
  watchTriggers({
    store: caches.deployments.store,
    controller,
    keys: ({ metadata: { uid = "" } }) =>
      caches.sets.store.byIndex("owner", uid).map((set) => `${namespace}/${set.metadata.name}`),
    when: (old, current) => old !== current && priorityOfChange(old, current) === "change",
  });
  return controller;
}
