import { markedStage } from "@millwright/controllers";
import { type DeletionStage, labelKeys, type Machine, phaseOf, readOperation } from "@millwright/core/machine-api";

/** A step in the life of a machine that has an end and a duration. */
export type FlowStep = "create" | "join" | "drain" | "delete";

/** Something that is counted when it happens to a machine. */
export type FlowFact =
  | { readonly fact: "took"; readonly step: FlowStep; readonly ms: number }
  /** A drain starts or ends that takes longer than one reconcile: its objects do not record when it started. */
  | { readonly fact: "drainBegan" | "drainEnded" }
  | { readonly fact: "failedToJoin" }
  /** Asked to go while it was Failed for want of health. */
  | { readonly fact: "stale" };

const since = (time: string | undefined, now: Date): number =>
  Math.max(0, now.getTime() - (Date.parse(time ?? "") || now.getTime()));

/**
 * What happened to a machine between two states of it, in which it may be missing. A machine that was not there before yields nothing: it may have
 * been there long before this process.
 */
export function flowFacts(before: Machine | undefined, after: Machine | undefined, now: Date): readonly FlowFact[] {
  if (before === undefined) return [];
  if (after === undefined || after.metadata.uid !== before.metadata.uid) return endFacts(before, now);
  const facts: FlowFact[] = [];
  const age = since(after.metadata.creationTimestamp, now);
  if (!before.spec.providerID && after.spec.providerID) facts.push({ fact: "took", step: "create", ms: age });
  if (phaseOf(before) !== "Running" && hasJoined(after)) facts.push({ fact: "took", step: "join", ms: age });
  // What fails before, or for another reason, is not Pending (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth).
  if (phaseOf(before) === "Pending" && phaseOf(after) === "Failed") facts.push({ fact: "failedToJoin" });
  if (isAsked(after) && !isAsked(before) && phaseOf(before) === "Failed" && isForHealth(before))
    facts.push({ fact: "stale" });
  return [...facts, ...drainFacts(before, after)];
}

/** What happened to a machine that is gone. */
function endFacts(last: Machine, now: Date): readonly FlowFact[] {
  const { deletionTimestamp } = last.metadata;
  if (deletionTimestamp === undefined) return [];
  const drained: readonly FlowFact[] = isDrainedAtOnce(last) ? [{ fact: "took", step: "drain", ms: 0 }] : [];
  return [...drained, { fact: "took", step: "delete", ms: since(deletionTimestamp, now) }];
}

/** Where the drain of a machine that is deleted stands. */
const drainStates = {
  GetVmStatus: "before",
  Drain: "under way",
  DeleteVolumeAttachments: "over",
  DeleteVm: "over",
  DeleteNode: "over",
  RemoveFinalizer: "over",
} as const satisfies Readonly<Record<DeletionStage, string>>;

function drainStateOf(machine: Machine): (typeof drainStates)[DeletionStage] {
  const stage = markedStage({ machine });
  return stage === undefined ? "before" : drainStates[stage];
}

function drainFacts(before: Machine, after: Machine): readonly FlowFact[] {
  const [from, to] = [drainStateOf(before), drainStateOf(after)];
  if (from === to) return [];
  if (to === "under way") return [{ fact: "drainBegan" }];
  // Its marker was removed, so that it starts again.
  if (to === "before") return [];
  if (from === "under way") return [{ fact: "drainEnded" }];
  return isDrainedForPreservation(after) ? [{ fact: "took", step: "drain", ms: 0 }] : [];
}

/** How a drain ends that was not skipped. */
const drainEnds: ReadonlySet<string> = new Set(["Drained", "VolumesAttached", "ForceDrained"]);

/** Whether the last operation is a completed drain: without a node there is none. */
const isDrainedForPreservation = ({ status }: Machine): boolean => drainEnds.has(readOperation(status).reason ?? "");

/** A healthy machine whose Node was empty, and whose VM was deleted within a second, has no stage of its deletion in its status. */
const isDrainedAtOnce = (machine: Machine): boolean =>
  phaseOf(machine) === "Running" && (machine.metadata.labels?.[labelKeys.node] ?? "") !== "";

const isAsked = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;

/** Running for the first time: a recovery is recorded as HealthCheck (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth). */
const hasJoined = (machine: Machine): boolean =>
  phaseOf(machine) === "Running" &&
  machine.status?.lastOperation?.type === "Create" &&
  machine.status.lastOperation.state === "Successful";

const isForHealth = ({ status }: Machine): boolean => status?.lastOperation?.type === "HealthCheck";
