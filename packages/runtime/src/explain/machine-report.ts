import {
  creationDeadline,
  deletionStart,
  drainWindow,
  healthTimeoutMs,
  type Hold,
  inPlaceUpdateTimeoutMs,
  isDeleting,
  isPreserved,
  isReady,
  machineConditions,
  type MachineFacts,
  markedStage,
  nodeOf,
  podRepellingTaints,
  type ReportedTaint,
  timeOf,
} from "@millwright/controllers/reports";
import {
  type FieldProblem,
  labelKeys,
  type MachineHistoryEntry,
  type MachineStatus,
  type PhaseGuide,
  phaseGuide,
  phaseOf,
  readOperation,
} from "@millwright/core/machine-api";
import { apiTime, type DerivedCondition } from "@millwright/kube";

/** A time at which something happens if nothing else does before. */
export interface Deadline {
  /** RFC 3339. */
  readonly time: string;
  /** What happens then: a clause. */
  readonly effect: string;
}

/** The report about one machine, for users and scripts. */
export interface MachineReport {
  readonly name: string;
  readonly namespace: string;
  /** The phase; empty while the VM is being created; an unknown one is kept. */
  readonly phase: string;
  readonly since?: string;
  readonly machineSet?: string;
  readonly machineDeployment?: string;
  readonly machineClass: { readonly name: string; readonly exists: boolean };
  readonly providerId: string;
  /** `state`: whether the Node exists; `unreachable` when its API server is unreachable, `none` without target cluster. */
  readonly node: { readonly name: string; readonly state: "present" | "missing" | "unreachable" | "none" };
  /** Of a Running machine: taints that keep pods off its Node although the template does not; absent without any. */
  readonly taints?: readonly ReportedTaint[];
  readonly lastOperation?: NonNullable<MachineStatus["lastOperation"]>;
  /** Clocks of the controllers and API servers that differ, one sentence each; absent when all agree, as far as is known. */
  readonly clockSkews?: readonly string[];
  /** Why the terminating machine is kept; absent when it is not. */
  readonly deletionPaused?: string;
  readonly conditions: readonly DerivedCondition[];
  /** The oldest first. */
  readonly history: readonly MachineHistoryEntry[];
  /** What is wrong with the machine's own spec. */
  readonly problems: readonly FieldProblem[];
  readonly next: Omit<PhaseGuide, "cause"> & { readonly deadline?: Deadline };
}

/** Whether the controllers reject the spec or the class of a machine: a driver that fails has its code in the details, too. */
const isRejected = ({ status }: MachineFacts["machine"]): boolean =>
  status?.lastOperation?.type === "Create" &&
  status.lastOperation.errorCode === "InvalidArgument" &&
  readOperation(status).code === undefined;

/** The time at which the phase ends by itself, for the phases that do. */
function deadlineOf(facts: MachineFacts, now: Date): Deadline | undefined {
  const { machine, settings } = facts;
  const { lastUpdateTime, preserveExpiryTime } = machine.status?.currentStatus ?? {};
  const since = timeOf(lastUpdateTime);
  const at = (ms: number | undefined, effect: string): Deadline | undefined =>
    ms === undefined || Number.isNaN(ms) ? undefined : { time: apiTime(new Date(ms)), effect };
  const after = (ms: number, effect: string): Deadline | undefined =>
    at(since === undefined ? undefined : since + ms, effect);
  if (isDeleting(machine)) {
    if (machine.metadata.deletionTimestamp == null) return undefined;
    // Before its drain a deletion may wait for its class; after it, no pods remain.
    if (!["Drain", undefined].includes(markedStage({ machine }))) return undefined;
    const drain = drainWindow({ machine, settings, node: nodeOf(facts), startedAt: deletionStart(facts) }, now);
    return at(drain.deadline, "remaining pods are deleted");
  }
  // A class or a spec that is rejected never makes a machine Failed: only a change of it helps.
  if (isRejected(machine)) return undefined;
  switch (phaseOf(machine)) {
    case "":
    case "CrashLoopBackOff":
    case "Pending":
      return at(creationDeadline({ machine, settings }), "the machine becomes Failed");
    case "Unknown":
    case "InPlaceUpdateFailed":
      return machine.spec.disableHealthTimeout === true
        ? undefined
        : after(healthTimeoutMs({ machine, settings }), "the machine becomes Failed if it may be replaced");
    case "InPlaceUpdating":
      return after(inPlaceUpdateTimeoutMs({ machine, settings }), "the update fails");
    case "Failed":
      return isPreserved(machine, now) ? at(timeOf(preserveExpiryTime), "the machine is replaced") : undefined;
    case "Running":
    case "Available":
    case "InPlaceUpdateSuccessful":
    case "Terminating":
    case undefined:
      return undefined;
  }
}

const unknownPhase: PhaseGuide = {
  cause: "",
  controller: "Only deletes the machine: this version does not support the phase.",
  person: "Use the version that wrote the phase, or delete the machine.",
};

/** What the controllers do and what users can do; an invalid spec comes before the phase. */
function nextOf(
  facts: MachineFacts,
  problems: readonly FieldProblem[],
  hold: Hold | undefined,
  now: Date,
): MachineReport["next"] {
  if (hold !== undefined) {
    const controller = "Nothing: VM, node and object are kept until the deletion is confirmed or undone.";
    return { controller, person: `${hold.remedy}.` };
  }
  if (problems.length > 0 && !isDeleting(facts.machine))
    return { controller: "No VM is created while the spec is invalid.", person: "Fix the fields listed as problems." };
  const phase = isDeleting(facts.machine) ? "Terminating" : phaseOf(facts.machine);
  const { controller, person } = phase === undefined ? unknownPhase : phaseGuide[phase];
  const deadline = deadlineOf(facts, now);
  return { controller, person, ...(deadline === undefined ? {} : { deadline }) };
}

/** Only of a Running machine: otherwise the conditions name what its node waits for. */
function taintsOf(facts: MachineFacts): Pick<MachineReport, "taints"> {
  const node = nodeOf(facts);
  const taints = node === undefined || !isReady(facts.machine) ? [] : podRepellingTaints(facts.machine, node);
  return taints.length === 0 ? {} : { taints };
}

function nodeStateOf(facts: MachineFacts): MachineReport["node"]["state"] {
  if (!facts.hasTarget) return "none";
  if (!facts.isTargetReachable) return "unreachable";
  return nodeOf(facts) === undefined ? "missing" : "present";
}

/**
 * Creates the report about a machine. Pure: from the same objects and functions as in the controllers.
 *
 * @param hold why the machine is not acted on. Default: nothing holds it
 */
export function machineReport(
  facts: MachineFacts,
  problems: readonly FieldProblem[],
  now: Date,
  hold?: Hold,
): MachineReport {
  const { machine, set, deployment, hasClass } = facts;
  const { name, namespace = "", labels } = machine.metadata;
  const { currentStatus, lastOperation, history = [] } = machine.status ?? {};
  return {
    name,
    namespace,
    phase: currentStatus?.phase ?? "",
    ...(currentStatus?.lastUpdateTime == null ? {} : { since: currentStatus.lastUpdateTime }),
    ...(set === undefined ? {} : { machineSet: set.metadata.name }),
    ...(deployment === undefined ? {} : { machineDeployment: deployment.metadata.name }),
    machineClass: { name: machine.spec.class?.name ?? "", exists: hasClass },
    providerId: machine.spec.providerID ?? "",
    node: { name: nodeOf(facts)?.metadata.name ?? labels?.[labelKeys.node] ?? "", state: nodeStateOf(facts) },
    ...taintsOf(facts),
    ...(lastOperation === undefined ? {} : { lastOperation }),
    ...(hold === undefined ? {} : { deletionPaused: hold.message }),
    conditions: machineConditions(facts, now),
    history,
    problems,
    next: nextOf(facts, problems, hold, now),
  };
}
