import {
  clusterApiReasons as reasons,
  type MachineStatus,
  type NodeCondition,
  phaseOf,
  storedMachineConditionTypes as types,
} from "@millwright/core/machine-api";
import {
  apiTime,
  type ConditionState,
  findCondition,
  removeCondition,
  setCondition,
  type DerivedCondition,
} from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";
import { creationDeadline } from "../../model/timeouts.ts";
import { conflict, infrastructureReady, severalNodes } from "./infrastructure-ready.ts";
import { deleting, stalled } from "./deleting.ts";
import { type MachineFacts, newCondition } from "./facts.ts";
import { nodeHealthy } from "./node-conditions.ts";
import { ready } from "./ready.ts";
import { upToDate } from "./updating.ts";

/** What the stored conditions of a machine are computed from. */
export interface StoredConditionFacts extends MachineFacts {
  /** Whether the driver must still complete what needs an existing VM. */
  readonly isInitializationDue: boolean;
  /** Whether Cluster API's conditions are enabled; otherwise stored ones are removed, except Conflict and SeveralNodes, which are ours. */
  readonly areEnabled: boolean;
}

/** Unknown before there is a VM. */
function initialized(facts: StoredConditionFacts, infrastructure: DerivedCondition | undefined): DerivedCondition {
  const { machine, isInitializationDue } = facts;
  if (infrastructure?.status !== "True" && machine.spec.providerID === undefined)
    return newCondition(types.initialized, "Unknown", reasons.notProvisioned);
  const text = phaseOf(machine) === "CrashLoopBackOff" ? (machine.status?.lastOperation?.description ?? "") : "";
  return isInitializationDue
    ? newCondition(types.initialized, "False", reasons.notInitialized, text)
    : newCondition(types.initialized, "True", reasons.initialized);
}

/** Why a machine is not ready, in one word: what is being done comes before what is missing, and the cause of a failed driver call is its code. */
function causeOf(parts: readonly DerivedCondition[], errorCode: string): string | undefined {
  const find = (type: string): DerivedCondition | undefined => parts.find((part) => part.type === type);
  const going = find(types.stalled) ?? find(types.deleting) ?? find(types.conflict);
  if (going !== undefined) return going.reason;
  const missing = [types.infrastructureReady, types.initialized, types.nodeHealthy]
    .map(find)
    .find((part) => part !== undefined && part.status !== "True");
  if (errorCode !== "" && missing !== undefined && missing.type !== types.nodeHealthy) return errorCode;
  // Cluster API's word for a node that has not joined.
  return missing?.reason === reasons.inspectionFailed ? reasons.nodeNotJoined : missing?.reason;
}

/** Until when a node may join; the time is that of the object, so the text changes only with the machine. */
function joinDeadlineText(facts: StoredConditionFacts): string {
  const { machine, hasTarget, isTargetReachable } = facts;
  const deadline = creationDeadline({ machine, settings: facts.settings });
  const isJoining = phaseOf(machine) === "Pending" && !isDeleting(machine) && hasTarget && isTargetReachable;
  if (!isJoining || machine.metadata.creationTimestamp == null) return "";
  return `\n* Unless its Node is ready by ${apiTime(new Date(deadline))}, the machine becomes Failed`;
}

/** The sum: what keeps the machine from being ready, a line for each, with the first cause as reason. */
function machineReady(facts: StoredConditionFacts, parts: readonly DerivedCondition[], now: Date): DerivedCondition {
  const sum = ready(facts, now);
  const isUninitialized = parts.some(({ type, status }) => type === types.initialized && status === "False");
  if (sum?.status === "True" && !isUninitialized) return newCondition(types.machineReady, "True", reasons.ready);
  const status = sum === undefined || sum.status === "True" ? "False" : sum.status;
  const cause = causeOf(parts, facts.machine.status?.lastOperation?.errorCode ?? "") ?? reasons.notReady;
  return newCondition(types.machineReady, status, cause, `${sum?.message ?? ""}${joinDeadlineText(facts)}`);
}

function conditionsOf(facts: StoredConditionFacts, now: Date): readonly DerivedCondition[] {
  const own = [conflict(facts, now), severalNodes(facts, now)].filter((part) => part !== undefined);
  if (!facts.areEnabled) return own;
  const infrastructure = infrastructureReady(facts, now);
  const going = isDeleting(facts.machine) ? deleting(facts, now) : undefined;
  const parts = [
    infrastructure,
    initialized(facts, infrastructure),
    nodeHealthy(facts, now),
    upToDate(facts, now),
    going,
    stalled(facts, now),
    ...own,
  ].filter((part) => part !== undefined);
  return [machineReady(facts, parts, now), ...parts];
}

const stateOf = ({ type, status, reason, message }: DerivedCondition): ConditionState => ({
  type,
  status,
  reason,
  message: message ?? "",
});

/**
 * Whether a condition that is wrong is worth a write of its own. Others change with the status of the machine, or, as Initialized, shortly before it: they come with its next
 * write. A machine without a cluster to join has no such write after its initialization.
 */
const cannotWait = ({ type }: { readonly type: string }, { hasTarget, areEnabled }: StoredConditionFacts): boolean =>
  !areEnabled || type === types.upToDate || (!hasTarget && (type === types.initialized || type === types.machineReady));

/**
 * The status with the stored conditions of the machine behind the copies of the node's. They cost no write of their own while the machine is created, joins, fails or is
 * deleted. A fleet that is taken over is not written for them: each machine gets them with its next write.
 *
 * @param status the status to be written, which is that of `facts.machine` too; `isWritten`: whether it differs from the stored one
 * @returns the same status when nothing changes
 */
export function withStoredConditions(
  facts: StoredConditionFacts,
  status: MachineStatus,
  isWritten: boolean,
  now: Date,
): MachineStatus {
  const before = status.conditions ?? [];
  const states = conditionsOf(facts, now).map(stateOf);
  const isWrong = ({ type, status: desired, reason }: ConditionState): boolean => {
    const stored = findCondition(before, type);
    return stored?.status !== desired || stored.reason !== reason;
  };
  const gone = Object.values(types).filter((type) => !states.some((state) => state.type === type));
  const areStored = findCondition(before, types.machineReady) !== undefined;
  const areWrong =
    states.some((state) => isWrong(state) && cannotWait(state, facts)) ||
    gone.some((type) => findCondition(before, type) !== undefined && cannotWait({ type }, facts));
  // A deletion writes its status at every stage; after the last one nothing can be written.
  if (!isWritten && (!areStored || !areWrong || isDeleting(facts.machine))) return status;
  const kept = gone.reduce<readonly NodeCondition[]>((list, type) => removeCondition(list, type), before);
  const conditions = states.reduce<readonly NodeCondition[]>((list, state) => setCondition(list, state, { now }), kept);
  return conditions === before ? status : { ...status, conditions };
}
