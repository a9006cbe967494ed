import { type MachineFacts, stateOfMark } from "@millwright/controllers/reports";
import { annotationKeys, drainResult, readOperation, splitAtStage } from "@millwright/core/machine-api";
import type { MachineReport } from "./machine-report.ts";
import type { Cause } from "./explanation.ts";

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** A cause with a message on one line. */
export const withSince = (reason: string, message: string, since: string | undefined): Cause => ({
  reason,
  message: oneLine(message),
  ...(since === undefined ? {} : { since }),
});

/** The message of the driver that the last operation reports, without its attempts and MCM's wrapping; else its text. */
const messageOf = (report: MachineReport): string => {
  const { code, message } = readOperation(report);
  return (code === undefined ? undefined : message) ?? report.lastOperation?.description ?? "";
};

/** A condition of a machine that is there and not True. */
export const notGood = ({ conditions }: MachineReport, type: string) =>
  conditions.find((condition) => condition.type === type && condition.status !== "True");

/** What a deletion waits for. */
function causeOfDeletion(report: MachineReport): Cause {
  const { conditions, lastOperation, since } = report;
  const going = conditions.find(({ type, status }) => type === "Deleting" && status === "True");
  const text = messageOf(report);
  // The marker of the next stage is for controllers.
  const reported = drainResult(readOperation(report)) ?? (splitAtStage(text)?.text || text);
  const message = lastOperation?.description === undefined ? (going?.message ?? "") : reported;
  return withSince(going?.reason ?? "Deleting", message, since);
}

/** Whether the node of a machine is healthy again, and its machine not yet Running: one that flaps has to be stable for a while. */
export const isStabilizing = (report: MachineReport): boolean =>
  report.phase === "Unknown" && report.node.state === "present" && notGood(report, "NodeHealthy") === undefined;

/** Whether the node of a Running machine has a startup taint again: its agent restarts, or has failed. */
export const hasStartupTaint = ({ taints = [] }: MachineReport): boolean =>
  taints.some(({ kind }) => kind === "Startup");

/** Which taints keep pods off the node of a Running machine, also where everything is as desired. */
export function taintCauses({ node, taints = [] }: MachineReport): readonly Cause[] {
  const of = (wanted: (typeof taints)[number]["kind"]): string =>
    taints.flatMap(({ kind, taint }) => (kind === wanted ? [taint] : [])).join(", ");
  const [startup, foreign] = [of("Startup"), of("Foreign")];
  const until = "Pods without a toleration are not scheduled to it until an agent removes the taint";
  return [
    ...(startup === "" ? [] : [withSince("StartupTaint", `Node ${node.name} has ${startup}. ${until}`, undefined)]),
    ...(foreign === ""
      ? []
      : [withSince("ForeignTaint", `Node ${node.name} has ${foreign}, which its template does not have`, undefined)]),
  ];
}

/** A mark of the cluster autoscaler that does not count yet, also where everything is as desired. */
export function markCauses({ machine, set, deployment }: MachineFacts): readonly Cause[] {
  if (set === undefined || machine.metadata.deletionTimestamp != null || stateOfMark(machine, set) !== "waits")
    return [];
  const owner = deployment === undefined ? "its MachineDeployment" : `MachineDeployment ${deployment.metadata.name}`;
  const message =
    "The cluster autoscaler marked it for deletion. It is deleted with the autoscaler's next change of the size. " +
    `To keep it, remove its name from annotation ${annotationKeys.triggerDeletion} of ${owner}`;
  return [
    withSince("MarkedForDeletion", message, machine.metadata.annotations?.[annotationKeys.markedForDeletionTime]),
  ];
}

/** What failed. */
function causeOfFailure(report: MachineReport): Cause {
  const { lastOperation: { errorCode = "" } = {}, phase, since } = report;
  const reason = errorCode === "" ? (notGood(report, "NodeHealthy")?.reason ?? phase) : errorCode;
  return withSince(reason, messageOf(report), since);
}

/** What is missing until the machine is ready. */
function causeOfWait(report: MachineReport): Cause | undefined {
  const ready = notGood(report, "Ready");
  if (ready === undefined) return undefined;
  // A node that is healthy may still have a startup taint, which only Ready names.
  const missing = notGood(report, "InfrastructureReady") ?? notGood(report, "NodeHealthy") ?? ready;
  return withSince(missing.reason, missing.message.replaceAll(/^\s*\* /gm, "").replaceAll("\n", "; "), report.since);
}

/** The one cause that the controllers record first: what was done by users, then what fails, then what is missing. */
export function causeOf(report: MachineReport, isDrainBlocked: boolean): Cause | undefined {
  const { deletionPaused, problems, lastOperation, since, phase, machineClass } = report;
  if (deletionPaused !== undefined) return withSince("DeletionPaused", deletionPaused, since);
  if (phase === "Terminating")
    return isDrainBlocked
      ? withSince("DrainingNode", "The drain of its node is blocked", since)
      : causeOfDeletion(report);
  const [problem] = problems;
  if (problem !== undefined) return withSince("InvalidSpec", `${problem.path}: ${problem.message}`, since);
  const infrastructure = notGood(report, "InfrastructureReady");
  if (!machineClass.exists && infrastructure !== undefined)
    return withSince(infrastructure.reason, `MachineClass ${machineClass.name} does not exist`, since);
  if (isStabilizing(report))
    return withSince(
      "NodeStabilizing",
      "Node is healthy again. A Node that flaps must stay healthy for up to 10m before its machine is Running",
      since,
    );
  const hasFailed = lastOperation?.state === "Failed" || phase === "Unknown" || phase === "Failed";
  return hasFailed ? causeOfFailure(report) : causeOfWait(report);
}
