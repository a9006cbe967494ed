import {
  clusterApiConditionTypes as types,
  labelKeys,
  type Machine,
  type MachineSet,
  phaseOf,
  updateResults,
} from "@millwright/core/machine-api";
import { deleting } from "../conditions/group/deleting.ts";
import { type GroupConditions, groupConditions } from "../conditions/group/group-conditions.ts";
import { machinesReady } from "../conditions/group/machines-ready.ts";
import { machinesUpToDate } from "../conditions/group/machines-up-to-date.ts";
import { invalidSpecBlock, rejectedRequests } from "../conditions/group/reported-blocks.ts";
import { remediating } from "../conditions/group/remediating.ts";
import { scalingDown } from "../conditions/group/scaling-down.ts";
import { scalingUp } from "../conditions/group/scaling-up.ts";
import { unreadable } from "../conditions/group/unreadable.ts";
import type { Condition } from "@millwright/kube";
import { type ConditionInputs, judgeMachines } from "../conditions/owner/condition-inputs.ts";
import { conditionList, failureIn, withConditions } from "../conditions/owner/write-conditions.ts";
import type { Hold } from "../model/hold.ts";
import { shownCreationHolds } from "../guards/owner-guards.ts";
import { creationHolds } from "./plan-replicas.ts";
import type { MachineSetDecision, MachineSetSnapshot } from "./snapshot.ts";

/** What Cluster API's conditions of a set are computed from. */
export interface SetConditionFacts {
  readonly set: MachineSet;
  readonly owned: readonly Machine[];
  readonly inputs: ConditionInputs;
  /** MCM's conditions at the start of this reconcile. */
  readonly legacy: readonly Condition[];
  /** What prevents the creation of machines. */
  readonly blocked?: Hold | undefined;
}

/** Maximum length of a driver's message in ScalingUp: all of it is in MachinesReady. */
const longestFailure = 200;

/** The failure of the newest machine whose VM could not be created. */
function failedVmBlock(owned: readonly Machine[]): readonly string[] {
  const createdAt = ({ metadata }: Machine): number => Date.parse(metadata.creationTimestamp ?? "") || 0;
  const [newest] = owned
    .filter((machine) => phaseOf(machine) === "CrashLoopBackOff")
    .toSorted((a, b) => createdAt(b) - createdAt(a) || (a.metadata.name < b.metadata.name ? -1 : 1));
  if (newest === undefined) return [];
  const { errorCode = "", description = "" } = newest.status?.lastOperation ?? {};
  return [
    `last VM creation failed: ${errorCode === "" ? "" : `${errorCode}: `}${description.slice(0, longestFailure)}`,
  ];
}

/** What prevents the creation of machines, in the order of Cluster API (`machineset_controller_status.go` setScalingUpCondition). */
function blocksOf(facts: SetConditionFacts): readonly string[] {
  const { set, owned, inputs, legacy, blocked } = facts;
  if (set.metadata.deletionTimestamp != null) return [];
  const { name = "", kind = "MachineClass" } = set.spec.template.spec.class ?? {};
  const shown = shownCreationHolds("MachineSet", set, legacy);
  const holds = [...shown, creationHolds.disabled(set), blocked].filter((hold) => hold !== undefined);
  const rejected = rejectedRequests(legacy, "creation");
  return [
    ...invalidSpecBlock(set, legacy),
    // What blocks the creation may be what the labels show.
    ...holds.filter(({ by }, at) => holds.findIndex((each) => each.by === by) === at).map(({ message }) => message),
    ...(inputs.classes.has(name) ? [] : [`${kind} ${name} does not exist`]),
    ...(rejected.length > 0 ? rejected : failedVmBlock(owned)),
  ];
}

/** What prevents the deletion of machines. */
const downBlocks = ({ set, legacy }: SetConditionFacts): readonly string[] => [
  ...invalidSpecBlock(set, legacy),
  ...rejectedRequests(legacy, "deletion"),
];

/** Machines that count for ScalingDown: of those that an in-place update just moved here, only as many as `spec.replicas` allows. */
function settledCount({ owned }: SetConditionFacts, desired: number): number {
  const surplus = Math.max(0, owned.length - desired);
  const handedOver = owned.filter(
    ({ metadata }) => metadata.labels?.[labelKeys.updateResult] === updateResults.successful,
  ).length;
  return owned.length - Math.min(surplus, handedOver);
}

/** Cluster API's conditions of a set, all from one snapshot (Cluster API, `machineset_controller_status.go`). */
export function setConditionsOf(facts: SetConditionFacts, now: Date): GroupConditions {
  const { set, owned, inputs } = facts;
  const { deployment } = inputs;
  const isDeleting = set.metadata.deletionTimestamp != null;
  const machines = judgeMachines(owned, inputs, { set, deployment }, now);
  const isDrawnOn = creationHolds.disabled(set) !== undefined && deployment?.spec.strategy?.type === "InPlaceUpdate";
  const desired = isDeleting ? 0 : Math.max(0, set.spec.replicas ?? 0);
  const ofSpec = inputs.isSpecReadable
    ? [
        scalingDown({ current: settledCount(facts, desired), desired }, machines, downBlocks(facts), now),
        // What it lacks has moved to the new set, or is created there.
        scalingUp(
          { current: owned.length, desired: isDrawnOn ? Math.min(desired, owned.length) : desired },
          blocksOf(facts),
          "list",
        ),
        ...(deployment === undefined ? [] : [machinesUpToDate(machines, now)]),
      ]
    : [types.scalingDown, types.scalingUp, types.machinesUpToDate].map(unreadable);
  const states = [...ofSpec, remediating(machines), machinesReady(machines), deleting(isDeleting, machines, 0, now)];
  return groupConditions(states, machines, set.metadata.generation, now);
}

/**
 * Adds Cluster API's conditions to the status of a decision, so that one request writes all; removes them when there are no condition inputs. A set on its own has no deployment
 * whose template its machines could have, so it has no MachinesUpToDate either.
 */
export function withSetConditions(
  decision: MachineSetDecision,
  { set, claim }: Pick<MachineSetSnapshot, "set" | "claim">,
  inputs: ConditionInputs | undefined,
  now: Date,
): MachineSetDecision {
  const { status } = decision;
  if (status === undefined) return decision;
  const legacy = status.machineSetCondition ?? [];
  const group =
    inputs === undefined
      ? undefined
      : setConditionsOf({ set, owned: claim.owned, inputs, legacy, blocked: decision.blocked }, now);
  const kept =
    inputs?.deployment === undefined ? legacy.filter((each) => each.type !== types.machinesUpToDate) : legacy;
  const { generation } = set.metadata;
  const lists = { before: set.status?.machineSetCondition, legacy: kept, updateTime: false, generation };
  const machineSetCondition = conditionList(lists, group, { failure: failureIn(status.failedMachines) }, now);
  return withConditions(decision, { ...status, machineSetCondition }, group);
}
