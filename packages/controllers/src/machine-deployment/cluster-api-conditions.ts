import {
  annotationKeys,
  clusterApiConditionTypes as types,
  clusterApiReasons as reasons,
  eventReasons,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { deleting } from "../conditions/group/deleting.ts";
import { type GroupConditions, groupConditions } from "../conditions/group/group-conditions.ts";
import { machinesReady } from "../conditions/group/machines-ready.ts";
import { machinesUpToDate } from "../conditions/group/machines-up-to-date.ts";
import { invalidSpecBlock, rejectedRequests } from "../conditions/group/reported-blocks.ts";
import { remediating } from "../conditions/group/remediating.ts";
import { rollingOut } from "../conditions/group/rolling-out.ts";
import { scalingDown } from "../conditions/group/scaling-down.ts";
import { scalingUp } from "../conditions/group/scaling-up.ts";
import { unreadable } from "../conditions/group/unreadable.ts";
import { type Condition, type ConditionState, findCondition } from "@millwright/kube";
import type { Reason } from "../model/decision.ts";
import { type ConditionInputs, judgeMachines } from "../conditions/owner/condition-inputs.ts";
import { conditionList, failureIn, withConditions } from "../conditions/owner/write-conditions.ts";
import { pendingSets } from "./pending-machines.ts";
import { shownCreationHolds } from "../guards/owner-guards.ts";
import type { SetView } from "./state/set-size.ts";
import { allOf } from "./state/sets.ts";
import type { MachineDeploymentDecision, MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** What Cluster API's conditions of a deployment are computed from. */
export interface DeploymentConditionFacts {
  readonly deployment: MachineDeployment;
  /** All sets of the deployment with their machines, in any order. */
  readonly sets: readonly SetView[];
  readonly inputs: ConditionInputs;
  /** Whether the spec has no size, and counts as 0. Default: false. */
  readonly lacksSize?: boolean;
  /** MCM's conditions at the start of this reconcile. */
  readonly legacy: readonly Condition[];
  /** What blocks the rollout besides a pause and a freeze: a clause each, as in the message of `RollingOut`. Default: nothing. */
  readonly holds?: readonly string[];
}

const creationHolds = ({ deployment, legacy }: DeploymentConditionFacts): readonly string[] =>
  shownCreationHolds("MachineDeployment", deployment, legacy).map(({ message }) => message);

/** What prevents the creation of machines, the most important first. */
function blocksOf(facts: DeploymentConditionFacts): readonly string[] {
  const { deployment, inputs, legacy } = facts;
  if (deployment.metadata.deletionTimestamp != null) return [];
  const { name = "", kind = "MachineClass" } = deployment.spec.template.spec.class ?? {};
  return [
    ...invalidSpecBlock(deployment, legacy),
    ...(inputs.classes.has(name) ? [] : [`${kind} ${name} does not exist`]),
    ...creationHolds(facts),
    ...rejectedRequests(legacy, "creation"),
  ];
}

function holdsOf(facts: DeploymentConditionFacts): readonly string[] {
  return [
    ...(facts.holds ?? []),
    ...(facts.deployment.spec.paused === true ? ["Rollout is paused"] : []),
    ...creationHolds(facts).map((message) => `Rollout is blocked because ${message}`),
  ];
}

/** As in MCM, a spec without size counts as 0. */
const waitingForReplicas: ConditionState = {
  type: types.scalingUp,
  status: "Unknown",
  reason: reasons.waitingForReplicasSet,
  message: "Waiting for spec.replicas set: until then it counts as 0",
};

/** A warning when the size is taken out of the spec: its condition is new, or without conditions the spec is. */
function sizeEvents({ deployment, assumedSize }: MachineDeploymentSnapshot, hasConditions: boolean): readonly Reason[] {
  const { metadata, status } = deployment;
  const isKnown = hasConditions
    ? findCondition(status?.conditions, types.scalingUp)?.reason === reasons.waitingForReplicasSet
    : status?.observedGeneration === metadata.generation;
  if (assumedSize !== "zero" || isKnown) return [];
  const message = `spec.replicas is not set and counts as 0: all machines are deleted. Set it; or, for a cluster autoscaler, set the annotation ${annotationKeys.autoscalerMaxSize}: then the size is kept`;
  return [{ type: "Warning", reason: eventReasons.waitingForReplicasSet, message }];
}

const paused = ({ spec }: MachineDeployment): ConditionState =>
  spec.paused === true
    ? {
        type: types.paused,
        status: "True",
        reason: reasons.paused,
        message: "MachineDeployment spec.paused is set to true",
      }
    : { type: types.paused, status: "False", reason: reasons.notPaused, message: "" };

/**
 * Cluster API's conditions of a deployment, all from one snapshot (Cluster API, `machinedeployment_status.go`): a reader who waits for the current generation and
 * RollingOut=False never sees the result of an older template.
 */
export function deploymentConditions(facts: DeploymentConditionFacts, now: Date): GroupConditions {
  const { deployment, sets, inputs, legacy } = facts;
  const { deletionTimestamp, generation } = deployment.metadata;
  const isDeleting = deletionTimestamp != null;
  const machines = sets.flatMap((view) => judgeMachines(view.machines, inputs, { set: view.set, deployment }, now));
  const desired = isDeleting ? 0 : Math.max(0, deployment.spec.replicas ?? 0);
  const scale = { current: machines.length, desired };
  const waitsForResume = deployment.spec.paused === true && sets.length === 0;
  const classKind = deployment.spec.template.spec.class?.kind ?? "MachineClass";
  const ofSpec = inputs.isSpecReadable
    ? [
        rollingOut(machines, classKind, pendingSets(deployment, sets), holdsOf(facts)),
        scalingDown(
          scale,
          machines,
          [...invalidSpecBlock(deployment, legacy), ...rejectedRequests(legacy, "deletion")],
          now,
        ),
        facts.lacksSize === true
          ? waitingForReplicas
          : scalingUp({ ...scale, waitsForResume }, blocksOf(facts), "sentence"),
        machinesUpToDate(machines, now),
        paused(deployment),
      ]
    : [types.rollingOut, types.scalingDown, types.scalingUp, types.machinesUpToDate, types.paused].map(unreadable);
  const states = [
    ...ofSpec,
    remediating(machines),
    machinesReady(machines),
    deleting(isDeleting, machines, sets.length, now),
  ];
  return groupConditions(states, machines, generation, now);
}

/**
 * Adds Cluster API's conditions to the status of a decision, so that one request writes all; removes them when there are no condition inputs.
 */
export function withDeploymentConditions(
  decision: MachineDeploymentDecision,
  snapshot: MachineDeploymentSnapshot,
  inputs: ConditionInputs | undefined,
  now: Date,
): MachineDeploymentDecision {
  const { status } = decision;
  if (status === undefined) return decision;
  const { deployment, limits, problems } = snapshot;
  const holds =
    problems.length > 0 ? ["Rollout is blocked because the spec is not valid: see SpecValid"] : limits.holds;
  const legacy = status.conditions ?? [];
  const sets = allOf(snapshot.sets);
  const group =
    inputs === undefined
      ? undefined
      : deploymentConditions(
          { deployment, sets, inputs, legacy, holds: holds ?? [], lacksSize: snapshot.assumedSize === "zero" },
          now,
        );
  const { generation } = deployment.metadata;
  const lists = { before: deployment.status?.conditions, legacy, updateTime: true, generation };
  const [message = ""] = limits.holds ?? [];
  const gate = limits.reason === undefined ? undefined : { reason: limits.reason, message };
  const conditions = conditionList(lists, group, { failure: failureIn(status.failedMachines), gate }, now);
  const events = sizeEvents(snapshot, group !== undefined);
  const warned = events.length === 0 ? decision : { ...decision, because: [...decision.because, ...events] };
  return withConditions(warned, { ...status, conditions }, group);
}
