import {
  classNamesOf,
  defaultMachineSettings,
  drainRulesOf,
  findHold,
  type Hold,
  type MachineFacts,
  markedStage,
  observeDrain,
} from "@millwright/controllers/reports";
import {
  controllerOf,
  finalizers,
  type Machine,
  type MachineClass,
  readOperation,
  validateMachine,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { machineReport, type MachineReport } from "./machine-report.ts";
import { previewDeletionDrain } from "./simulate-drain.ts";
import { type ClusterObjects, nodeOfMachine } from "./cluster-objects.ts";
import { explainNode } from "./explain-node.ts";
import type { Attempts, ExplainedState, Explanation } from "./explanation.ts";
import { causeOf, hasStartupTaint, isStabilizing, markCauses, notGood, taintCauses } from "./machine-cause.ts";
import { secretsOf } from "./class-remedy.ts";
import { machineRemedy, type RemedyInputs } from "./machine-remedy.ts";

/** What failed last, and the code of a call of the driver, which a deletion has in the details only. */
function failureOf(report: MachineReport): { readonly reason?: string; readonly code: string } {
  const { lastOperation } = report;
  if (lastOperation?.state !== "Failed") return { code: "" };
  const { reason, code } = readOperation(report);
  return { ...(reason === undefined ? {} : { reason }), code: lastOperation.errorCode ?? code ?? "" };
}

/** All that is known of a machine, as the report of it needs it. */
export function factsOfMachine(machine: Machine, objects: ClusterObjects): MachineFacts {
  const setUid = controllerOf(machine)?.uid;
  const set = objects.sets.find(({ metadata }) => metadata.uid !== undefined && metadata.uid === setUid);
  const deploymentUid = set === undefined ? undefined : controllerOf(set)?.uid;
  const deployment = objects.deployments.find(
    ({ metadata }) => metadata.uid !== undefined && metadata.uid === deploymentUid,
  );
  const { nodes } = objects;
  const found = typeof nodes === "object" ? nodeOfMachine(machine, nodes) : undefined;
  return {
    machine,
    set,
    deployment,
    hasTarget: nodes !== undefined,
    isTargetReachable: nodes !== "unreachable",
    node: found ?? (typeof nodes === "string" ? "unread" : "missing"),
    hasClass: objects.classes.some(({ metadata }) => metadata.name === machine.spec.class?.name),
    settings: defaultMachineSettings,
  };
}

/** What blocks the drain of the node of a terminating machine until a deadline. */
interface BlockedDrain {
  readonly lines: readonly string[];
  readonly namespaces: readonly string[];
}

async function blockedDrain(
  { machine, node }: MachineFacts,
  machineClass: MachineClass | undefined,
  objects: ClusterObjects,
  now: Date,
): Promise<BlockedDrain | undefined> {
  if (typeof node === "string" || machine.metadata.deletionTimestamp == null || markedStage({ machine }) !== "Drain")
    return undefined;
  const { rules } = drainRulesOf(machine.metadata, machineClass?.metadata);
  const sources = await objects.drainSources(node.metadata.name);
  const { preview } = previewDeletionDrain(machine, observeDrain(node, machine, rules, sources), now);
  if (preview.outcome !== "blocked") return undefined;
  const namespaces = preview.blockedBy.map(({ pod }) => pod.split("/")[0] ?? "");
  return { lines: preview.because, namespaces: [...new Set(namespaces)].toSorted() };
}

function attemptsOf(report: MachineReport): Attempts | undefined {
  const { lastOperation, history } = report;
  if (lastOperation?.state !== "Failed") return undefined;
  const { attempts } = readOperation(report);
  if (attempts !== undefined) {
    const { count, firstTime: firstAt, lastTime: lastAt, pauseSeconds } = attempts;
    const nextMs = Date.parse(lastAt) + pauseSeconds * 1000;
    return { count, lastAt, firstAt, ...(Number.isNaN(nextMs) ? {} : { nextAt: apiTime(new Date(nextMs)) }) };
  }
  const outcome = lastOperation.errorCode ?? "Failed";
  const count = history.filter((entry) => entry.outcome === outcome && entry.operation === lastOperation.type).length;
  const lastAt = lastOperation.lastUpdateTime ?? "";
  return lastAt === "" ? undefined : { count: Math.max(1, count), lastAt };
}

const stuckPhases: ReadonlySet<string> = new Set(["CrashLoopBackOff", "Failed", "Unknown", "InPlaceUpdateFailed"]);

/** Finalizers of others, where only they keep a machine that is being deleted. */
const othersThatKeep = ({ metadata }: Machine): readonly string[] =>
  metadata.deletionTimestamp == null || metadata.finalizers?.includes(finalizers.machine) === true
    ? []
    : (metadata.finalizers ?? []);

function stateOf(report: MachineReport, blocked: BlockedDrain | undefined, keptBy: readonly string[]): ExplainedState {
  const { phase, deletionPaused, problems, lastOperation } = report;
  if (deletionPaused !== undefined || blocked !== undefined) return "stuck";
  if (phase === "Terminating") return lastOperation?.state === "Failed" || keptBy.length > 0 ? "stuck" : "waiting";
  if (isStabilizing(report)) return "waiting";
  if (problems.length > 0 || stuckPhases.has(phase) || lastOperation?.state === "Failed") return "stuck";
  return notGood(report, "Ready") === undefined && !hasStartupTaint(report) ? "ok" : "waiting";
}

/** The class of a machine when it is missing, and the Secret when it is, or its credentials are not accepted. */
function inputsOf(report: MachineReport, className: string, machineClass: MachineClass | undefined): Explanation[] {
  const common = { others: [], causes: [], children: [], state: "stuck" as const };
  const { reason, code } = failureOf(report);
  const isNeeded = report.phase === "Terminating" ? reason === "ClassUnusable" : report.providerId === "";
  if (machineClass === undefined)
    return isNeeded ? [{ ...common, kind: "MachineClass", name: className, summary: "does not exist" }] : [];
  const [secret] = secretsOf(machineClass);
  const isMissing = reason === "SecretNotFound" && report.phase === "Terminating";
  if (secret === undefined || (!isMissing && !["Unauthenticated", "PermissionDenied"].includes(code))) return [];
  const summary = isMissing ? "does not exist" : `credentials of MachineClass ${className}`;
  return [{ ...common, kind: "Secret", name: secret, summary }];
}

const nouns = { MachineDeployment: "deployment", MachineSet: "set", Machine: "machine" } as const;

/** What was attempted, comes next and helps; nothing of a machine that is as desired. */
function evidenceOf(
  report: MachineReport,
  state: ExplainedState,
  inputs: Omit<RemedyInputs, "report">,
): Partial<Explanation> {
  if (state === "ok") return {};
  const attempts = attemptsOf(report);
  const { deadline, controller: next } = report.next;
  return {
    ...(attempts === undefined ? {} : { attempts }),
    ...(deadline === undefined ? {} : { deadline }),
    next,
    remedy: machineRemedy({ ...inputs, report }),
  };
}

/** The report about a machine; a terminating one is Terminating, whatever phase it has. */
function reportOf(facts: MachineFacts, hold: Hold | undefined, now: Date): MachineReport {
  const { machine } = facts;
  const report = machineReport(facts, validateMachine(machine), now, hold);
  return machine.metadata.deletionTimestamp == null ? report : { ...report, phase: "Terminating" };
}

/** Explains one machine, from what the controllers recorded about it. */
export async function explainMachine(machine: Machine, objects: ClusterObjects, now: Date): Promise<Explanation> {
  const facts = factsOfMachine(machine, objects);
  const isDeleted = machine.metadata.deletionTimestamp != null;
  // A VM is deleted with the class that it was created with, which may be a fallback.
  const className = (isDeleted ? classNamesOf(machine).at(-1) : machine.spec.class?.name) ?? "";
  const machineClass = objects.classes.find(({ metadata }) => metadata.name === className);
  const { readCrd = async () => undefined } = objects;
  const hold = await findHold(machine, facts, readCrd);
  const report = reportOf(facts, hold, now);
  const blocked = await blockedDrain(facts, machineClass, objects, now);
  const keptBy = othersThatKeep(machine);
  const state = stateOf(report, blocked, keptBy);
  const cause = state === "ok" ? undefined : causeOf(report, blocked !== undefined);
  const causes = [...(cause === undefined ? [] : [cause]), ...taintCauses(report), ...markCauses(facts)];
  const { code: errorCode } = failureOf(report);
  const blockedIn = blocked?.namespaces ?? [];
  const approve = hold?.approver === undefined ? undefined : `${nouns[hold.approver.kind]} ${hold.approver.name}`;
  return {
    kind: "Machine",
    name: report.name,
    others: [],
    state,
    summary: report.phase === "" ? "VM is being created" : report.phase,
    ...(report.since === undefined ? {} : { since: report.since }),
    causes,
    ...evidenceOf(report, state, { className, machineClass, errorCode, approve, blockedIn, keptBy }),
    children: [
      ...inputsOf(report, className, machineClass),
      ...(typeof facts.node === "string" ? [] : [explainNode(facts.node, blocked?.lines)]),
    ],
  };
}
