import { refusedWriteRemedy, restoreCommand } from "@millwright/controllers/reports";
import { labelKeys, type MachineClass, readOperation, trueLabel } from "@millwright/core/machine-api";
import type { MachineReport } from "./machine-report.ts";
import { remedyOfCode, secretsOf } from "./class-remedy.ts";
import { deletionRemedy } from "./deletion-remedy.ts";
import { hasStartupTaint, isStabilizing } from "./machine-cause.ts";
import type { Remedy } from "./explanation.ts";

/** What a remedy depends on. */
export interface RemedyInputs {
  readonly report: MachineReport;
  /** Of the class that its VM is, or will be, created with. */
  readonly className: string;
  readonly machineClass: MachineClass | undefined;
  /** Code of the failed call; empty where there is none. */
  readonly errorCode: string;
  /** The owner that approves held deletions of the machine: `deployment NAME`; absent where none is held. */
  readonly approve?: string | undefined;
  /** Namespaces of the pods that block the drain of its node. */
  readonly blockedIn: readonly string[];
  /** Finalizers of others, where only they keep the machine. */
  readonly keptBy: readonly string[];
}

function ofFailedCall({ report, className, machineClass, errorCode }: RemedyInputs): Remedy | undefined {
  const { namespace } = report;
  if (report.lastOperation?.state === "Failed" && readOperation(report).reason === "WriteRefused") {
    const [text, ...commands] = refusedWriteRemedy(namespace);
    return { text, commands };
  }
  return remedyOfCode(errorCode, { namespace, className, secretName: secretsOf(machineClass)[0] });
}

function ofNode({ report }: RemedyInputs): Remedy {
  const { node, next } = report;
  if (node.state !== "present")
    return { text: next.person, commands: ["kubectl get nodes,certificatesigningrequests"] };
  const joined =
    "The Node has joined. Its conditions and taints name what is missing; an agent removes a startup taint.";
  return { text: report.phase === "Pending" ? joined : next.person, commands: [`kubectl describe node ${node.name}`] };
}

/** Whether so many machines are unhealthy that none is replaced. */
const isRemediationPaused = (report: MachineReport): boolean =>
  report.phase === "Unknown" && ["Outage", "ZoneOutage"].includes(readOperation(report).hold ?? "");

/** What a user can do about a machine whose node was, or is, unhealthy; `undefined` for another one. */
function healthRemedy(report: MachineReport): Remedy | undefined {
  if (isStabilizing(report))
    return {
      text: "Nothing is needed. If the Node goes on to flap, find out why; deleting the machine replaces it.",
      commands: [`kubectl describe node ${report.node.name}`],
    };
  if (hasStartupTaint(report))
    return {
      text: "Check the agent that removes the startup taint. The machine stays Running; deleting it replaces it.",
      commands: [`kubectl describe node ${report.node.name}`],
    };
  if (isRemediationPaused(report))
    return {
      text: "Find what the nodes have in common: network, image, zone or API server. A recovered node needs nothing; deleting a machine replaces it.",
      commands: ["kubectl get nodes", `kubectl get machines -n ${report.namespace}`],
    };
  return undefined;
}

/** A deletion that is held. That of a Machine with a former owner cannot be undone: the garbage collector requested it. */
function ofHeldDeletion({ lastOperation, namespace }: MachineReport, approve: string): Remedy {
  const command = `millwright approve ${approve} -n ${namespace}`;
  if (lastOperation?.description?.includes(restoreCommand) === true)
    return {
      text: "Restore the machine to keep its VM, or approve the deletion.",
      commands: [`${restoreCommand} -n ${namespace}`, command],
    };
  if (approve.startsWith("machine ")) return { text: "Approve the deletion.", commands: [command] };
  return {
    text: "Approve the deletions, all at once or three at a time.",
    commands: [command, `${command} --at-a-time 3`],
  };
}

/** What a user can do about a machine, with the command that helps. */
export function machineRemedy(inputs: RemedyInputs): Remedy {
  const { report, approve, blockedIn, errorCode } = inputs;
  const { name, namespace, machineClass, next } = report;
  if (approve !== undefined) return ofHeldDeletion(report, approve);
  if (report.deletionPaused !== undefined) return { text: next.person, commands: [] };
  if (blockedIn.length > 0)
    return {
      text: "Change what blocks the pods, or drain by force: then they are deleted without eviction.",
      commands: [
        ...blockedIn.map((each) => `kubectl get poddisruptionbudgets,pods -n ${each}`),
        `kubectl label machine ${name} ${labelKeys.forceDeletion}=${trueLabel} -n ${namespace}`,
      ],
    };
  if (report.phase === "Terminating") {
    const { className, machineClass: found, keptBy } = inputs;
    const [secretName = ""] = secretsOf(found);
    const deletion = { report, className, hasClass: found !== undefined, secretName, keptBy };
    return deletionRemedy(deletion, (code) => ofFailedCall({ ...inputs, errorCode: code }));
  }
  if (!machineClass.exists && report.providerId === "")
    return {
      text: `Create MachineClass ${machineClass.name}, or name an existing one in the template.`,
      commands: [`kubectl get machineclasses -n ${namespace}`],
    };
  if (report.problems.length > 0)
    return { text: next.person, commands: [`kubectl edit machine ${name} -n ${namespace}`] };
  const ofCall = ofFailedCall(inputs);
  if (ofCall !== undefined) return ofCall;
  const ofHealth = healthRemedy(report);
  if (ofHealth !== undefined) return ofHealth;
  if (errorCode === "" && ["Pending", "Unknown"].includes(report.phase)) return ofNode(inputs);
  return { text: next.person, commands: [`millwright describe machine ${name} -n ${namespace}`] };
}
