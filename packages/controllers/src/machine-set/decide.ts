import {
  annotationKeys,
  eventReasons,
  finalizers,
  legacyConditionTypes,
  type Machine,
  type MachineSet,
  type MachineSetStatus,
} from "@millwright/core/machine-api";
import { controllerRefOf, isOrphaning } from "@millwright/kube";
import { type ApprovingObject, heldCondition, heldEvents } from "../deletion-budget/held-condition.ts";
import { ownShareProblems } from "../deletion-budget/own-share.ts";
import { HELD_RETRY_MS } from "../model/held-deletion.ts";
import type { HeldDeletions } from "../model/deletion-budget.ts";
import { invalidSpecEvents } from "../conditions/spec-valid.ts";
import type { Reason } from "../model/decision.ts";
import { isProtected, protectedMachinesHold } from "../model/deletion-protection.ts";
import { type Hold, holdOn } from "../model/hold.ts";
import { eventsOfHold, stateOfHold } from "../model/hold-condition.ts";
import { isFailed } from "../model/phase.ts";
import { machinesWhere } from "../machine-lists/machine-list.ts";
import { decideFreeze, type Freeze } from "../safety/freeze-set.ts";
import { releasedMachines } from "../safety/released-machines.ts";
import { defaultOvershootMargins, overshootLimits } from "../safety/overshoot-limits.ts";
import {
  lacksExpectedMachines,
  expectedReplicasOf,
  isArrived,
  isUnverified,
  lostPatch,
  missingOf,
  noExpectedReplicasPatch,
  unverifiedPatch,
  restoreHold,
  vanishedPatch,
} from "./expected-replicas.ts";
import { decideMembers, deletionOf, type MembersDecision, notYetDeleted } from "./decide-members.ts";
import { refusedDeletionsHold, roomOf } from "./room.ts";
import type { MachineSetAction, MachineSetDecision, MachineSetSnapshot } from "./snapshot.ts";
import { machineSetStatus } from "./status.ts";

const hasFinalizer = (set: MachineSet): boolean => set.metadata.finalizers?.includes(finalizers.machine) === true;

/** Only in the version that was read: a machine that the garbage collector has released meanwhile, of a set that is deleted without its machines, is kept. */
function deletionWithSet(machine: Machine): MachineSetAction {
  const { resourceVersion } = machine.metadata;
  return { ...deletionOf(machine), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

/** Whether a terminating set was restored from a backup, and the garbage collector deletes it because it names the UID of a former deployment. */
const isDeletedAsLost = ({ isLost = false, budget }: MachineSetSnapshot): boolean =>
  isLost && budget?.isApproved !== true;

/**
 * A terminating set deletes its machines and waits for the last; its spec no longer matters. With `--cascade=orphan` it waits until they have no owner, and releases those that the
 * garbage collector did not see. A set whose deployment does not exist keeps its machines in the same way: the set that the deployment creates adopts them. Protected machines are kept, and the set with them.
 */
function decideDeletion(snapshot: MachineSetSnapshot): readonly MachineSetAction[] {
  const { set, claim, memory: { pending } = {}, orphaning, heldBy } = snapshot;
  if (!hasFinalizer(set)) return [];
  if (claim.owned.length === 0 && (pending?.count ?? 0) === 0) return [{ kind: "RemoveFinalizer" }];
  if (orphaning === "waiting" || isOrphaning(set)) return [];
  if (orphaning === "released" || isDeletedAsLost(snapshot))
    return claim.owned.map(({ metadata }): MachineSetAction => ({ kind: "OrphanMachine", name: metadata.name }));
  if (holdOn(heldBy, "deletion") !== undefined) return [];
  return notYetDeleted(claim.owned)
    .filter((machine) => !isProtected(machine))
    .map(deletionWithSet);
}

/** Machines that exist because of this set, by UID and not by name or label. */
const controlledBy = ({ claim, controlled }: MachineSetSnapshot): number =>
  controlled ?? claim.owned.length + claim.release.length;

/** Whether the reconcile sends requests that the API server may reject. */
export const changesReplicas = (actions: readonly MachineSetAction[]): boolean =>
  actions.some(({ kind }) => kind === "CreateMachines" || kind === "DeleteMachine");

/** When time alone changes the decision: the timeout of a missing response, the end of a preservation, or of the time for which a released machine counts. */
function requeueOf(
  { claim, lostVms, memory: { pending } = {} }: MachineSetSnapshot,
  now: Date,
): { readonly requeueAfterMs?: number } {
  const expiries = machinesWhere(claim.owned, isFailed)
    .map(({ status }) => Date.parse(status?.currentStatus?.preserveExpiryTime ?? "") - now.getTime())
    .filter((leftMs) => leftMs > 0);
  const requeueAfterMs = Math.min(
    pending?.overdueInMs ?? Infinity,
    releasedMachines(claim.released ?? [], now).changesInMs ?? Infinity,
    lostVms?.state === "listing" ? lostVms.forMs : Infinity,
    ...expiries,
  );
  return requeueAfterMs === Infinity ? {} : { requeueAfterMs };
}

/** What is held is judged again when a rate allows more, or when losses may have ended. */
function sooner(
  requeue: { readonly requeueAfterMs?: number },
  budget: MembersDecision["budget"],
): { readonly requeueAfterMs?: number } {
  if (budget === undefined) return requeue;
  return { requeueAfterMs: Math.min(requeue.requeueAfterMs ?? Infinity, budget.moreInMs ?? HELD_RETRY_MS) };
}

/** The event of a set without deployment: the deployment has its own. */
function withHeldEvent({ set }: MachineSetSnapshot, decision: MachineSetDecision): MachineSetDecision {
  if (controllerRefOf(set)?.kind === "MachineDeployment") return decision;
  const events = heldEvents(set.status?.machineSetCondition, decision.status?.machineSetCondition);
  return events.length === 0 ? decision : { ...decision, because: [...decision.because, ...events] };
}

const machinesVanished = (count: number): Reason => ({
  type: "Warning",
  reason: eventReasons.machinesVanished,
  message: `Machines missing since the API server went back to an earlier state: ${count}. Their VMs may still run, so no others are created; restore the machines, or remove annotation ${annotationKeys.expectedReplicas} to create new ones.`,
});

const machinesLost = (count: number): Reason => ({
  type: "Warning",
  reason: eventReasons.machinesVanished,
  message: `Machines that were not restored with the set, or that are held because their owner does not exist: ${count}. Their VMs run, so no others are created; restore the machines, or remove annotation ${annotationKeys.expectedReplicas} to create new ones.`,
});

/** Machines that have VMs, and that the set lacks: they were not restored yet, or are held. */
function lostMachines({ claim, lostVms, memory: { lostBefore = 0 } = {} }: MachineSetSnapshot): number {
  const { length: held } = claim.lost ?? [];
  return (held > lostBefore ? held : 0) + (lostVms?.state === "known" ? lostVms.count : 0);
}

/** The machines that are held because their owner does not exist, as the condition has them. */
const heldAsLost = ({ set, claim: { lost = [] } }: MachineSetSnapshot): HeldDeletions | undefined =>
  lost.length === 0
    ? undefined
    : {
        why: "lost owner",
        cause: "parent",
        count: lost.length,
        scope: { kind: "MachineSet", name: set.metadata.name },
        limit: 0,
        total: lost.length,
        loss: 0,
        before: lost
          .map(({ metadata }) => String(metadata.deletionTimestamp))
          .toSorted()
          .at(-1),
      };

/** The machines that were lost, and whose VMs wait for a person. */
function heldAsMissing(snapshot: MachineSetSnapshot): HeldDeletions | undefined {
  const count = missingOf(snapshot);
  if (count === 0 || isArrived(snapshot)) return undefined;
  const scope = { kind: "MachineSet", name: snapshot.set.metadata.name } as const;
  return { why: "lost Machines", cause: "creation", count, scope, limit: 0, total: count, loss: 0 };
}

/** What is held of a set, besides what other clients request: by the budget, as lost, or because machines are missing. */
const heldOf = (snapshot: MachineSetSnapshot, budget: MembersDecision["budget"]): HeldDeletions | undefined =>
  budget?.held ?? heldAsLost(snapshot) ?? heldAsMissing(snapshot);

/** The patches of the set itself: its freeze, and the record of machines that are missing. */
function patchesOf(
  snapshot: MachineSetSnapshot,
  freeze: Freeze,
  budget: MembersDecision["budget"],
): readonly MachineSetAction[] {
  const isLosing = budget?.held?.why === "ownerless VMs" && expectedReplicasOf(snapshot.set) === undefined;
  const patches = [
    freeze.patch,
    isArrived(snapshot) ? noExpectedReplicasPatch : undefined,
    isLosing ? lostPatch(snapshot.set) : undefined,
  ];
  return patches.flatMap((patch): readonly MachineSetAction[] =>
    patch === undefined ? [] : [{ kind: "PatchSet", patch }],
  );
}

/** What a reconcile adds to the status. */
interface StatusChange {
  /** Default: not judged, and the condition stays. */
  readonly freeze?: Freeze;
  readonly protection?: Hold | undefined;
  /** Deletions of the set itself that are held. Default: those that other clients requested. */
  readonly held?: HeldDeletions | undefined;
}

/** A failure is reported only while there is something left to retry. */
function statusAfter(
  { set, claim, problems, memory: { failure } = {}, deployment, budget }: MachineSetSnapshot,
  actions: readonly MachineSetAction[],
  { freeze, protection, held = budget?.requested }: StatusChange,
  now: Date,
): MachineSetStatus {
  const by: ApprovingObject =
    deployment === undefined ? { kind: "MachineSet", object: set } : { kind: "MachineDeployment", object: deployment };
  const facts = {
    set,
    owned: claim.owned,
    problems,
    failure: changesReplicas(actions) ? failure : undefined,
    holds: [stateOfHold(freeze?.hold), held && heldCondition(held, by, now), stateOfHold(protection)],
    unjudged: freeze === undefined ? [legacyConditionTypes.frozen] : [],
  };
  return machineSetStatus(facts, now);
}

function decideTerminating(snapshot: MachineSetSnapshot, now: Date): MachineSetDecision {
  const { set } = snapshot;
  const actions = decideDeletion(snapshot);
  // Removing the finalizer deletes the object: no status can be written after that.
  if (actions.some(({ kind }) => kind === "RemoveFinalizer") || !hasFinalizer(set)) return { actions, because: [] };
  const { owned } = snapshot.claim;
  const protection =
    owned.length === 0
      ? undefined
      : (holdOn(snapshot.heldBy, "deletion") ?? protectedMachinesHold(owned.filter(isProtected)));
  return withHeldEvent(snapshot, {
    actions,
    because: eventsOfHold(set.status?.machineSetCondition, protection),
    status: statusAfter(snapshot, actions, { protection }, now),
  });
}

/** Maintains the number of machines, and freezes the set. */
function decideSize(snapshot: MachineSetSnapshot, because: readonly Reason[], now: Date): MachineSetDecision {
  const { set, deployment, memory = {}, margins = defaultOvershootMargins } = snapshot;
  const limits = overshootLimits(set, deployment, margins);
  const controlled = controlledBy(snapshot);
  const released = releasedMachines(snapshot.claim.released ?? [], now);
  const freeze = decideFreeze(set, controlled, limits, memory.countBefore, released, memory.releasedBefore);
  const pending = memory.pending?.count ?? 0;
  const room = Math.min(limits.upper - controlled - released.recent, roomOf(snapshot)) - pending;
  const own = [lacksExpectedMachines(snapshot) ? restoreHold : undefined, freeze.hold, refusedDeletionsHold(snapshot)];
  const heldBy = [...own.filter((hold) => hold !== undefined), ...(snapshot.heldBy ?? [])];
  const { kept, ...members } = decideMembers({ ...snapshot, heldBy }, room, now);
  const protection = protectedMachinesHold(kept);
  const { budget: ofMembers, ...rest } = members;
  return withHeldEvent(snapshot, {
    ...rest,
    ...(ofMembers?.held === undefined ? {} : { held: ofMembers.held }),
    actions: [...patchesOf(snapshot, freeze, ofMembers), ...members.actions],
    status: statusAfter(snapshot, members.actions, { freeze, protection, held: heldOf(snapshot, ofMembers) }, now),
    because: [...because, ...freeze.because, ...eventsOfHold(set.status?.machineSetCondition, protection)],
    ...sooner(requeueOf(snapshot, now), ofMembers),
  });
}

/** Whether the set was restored from a file, with the UID of a former deployment, and no one has acted on it yet. */
const isJustRestored = ({ set: { metadata, status }, isLost }: MachineSetSnapshot): boolean =>
  isLost === true &&
  status?.observedGeneration === undefined &&
  metadata.annotations?.[annotationKeys.expectedReplicas] === undefined;

/**
 * Decides the next step of a MachineSet: claim its machines, maintain their number, propagate in-place fields, and on its own
 * deletion delete them. Deletion comes before validation, so that an object that became invalid can still be deleted.
 */
export function decideMachineSet(snapshot: MachineSetSnapshot, now: Date): MachineSetDecision {
  const { set, claim, problems, memory = {} } = snapshot;
  const { vanished = 0 } = memory;
  if (set.metadata.deletionTimestamp != null)
    return { ...decideTerminating(snapshot, now), ...requeueOf(snapshot, now) };
  const because = invalidSpecEvents([...problems, ...ownShareProblems(set)], set.status?.machineSetCondition);
  if (problems.length > 0) return { actions: [], status: statusAfter(snapshot, [], {}, now), because };
  if (!hasFinalizer(set)) return { actions: [{ kind: "AddFinalizer" }], because };
  if (isJustRestored(snapshot)) return { actions: [{ kind: "PatchSet", patch: unverifiedPatch }], because };
  const lost = lostMachines(snapshot);
  const isScaledDown = memory.isUnexplained === true && !isUnverified(set) && lost > 0;
  // Those that it adopts are its own in a moment: without them the record would be too small.
  const patch = vanishedPatch(set, [...claim.owned, ...claim.adopt], vanished + lost, isScaledDown);
  if (patch !== undefined) {
    const actions: readonly MachineSetAction[] = [{ kind: "PatchSet", patch }];
    const reason = lost > 0 ? machinesLost(lost) : machinesVanished(vanished);
    const held = heldAsLost(snapshot);
    return { actions, status: statusAfter(snapshot, [], { held }, now), because: [...because, reason] };
  }
  return decideSize(snapshot, because, now);
}
