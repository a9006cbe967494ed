import { readOperation } from "@millwright/core/machine-api";
import type { Remedy } from "./explanation.ts";
import type { MachineReport } from "./machine-report.ts";

/** What stops a deletion: the objects of the call that deletes the VM. */
export interface DeletionInputs {
  readonly report: MachineReport;
  /** The class that the VM was created with. */
  readonly className: string;
  /** Whether that class exists. */
  readonly hasClass: boolean;
  /** The Secret with its credentials; empty where it is not known. */
  readonly secretName: string;
  /** Finalizers of others, where only they keep the machine. */
  readonly keptBy: readonly string[];
}

/** What a user can do about a deletion that its class or Secret stops; `undefined` where it waits for something else. */
export function stoppedByClass({
  report,
  className,
  hasClass,
  secretName,
}: Omit<DeletionInputs, "keptBy">): Remedy | undefined {
  const { namespace, lastOperation } = report;
  if (lastOperation?.state !== "Failed") return undefined;
  const { reason } = readOperation(report);
  const doctor = `millwright doctor ${className} -n ${namespace}`;
  if (reason === "SecretNotFound")
    return {
      text: `Create Secret ${secretName} again, with credentials for the account of the VM. The deletion then continues.`,
      commands: [`kubectl get secret ${secretName} -n ${namespace}`, doctor],
    };
  if (reason !== "ClassUnusable") return undefined;
  return hasClass
    ? {
        text: `Correct MachineClass ${className}. The deletion then continues.`,
        commands: [`kubectl edit machineclass ${className} -n ${namespace}`, doctor],
      }
    : {
        text: `Create MachineClass ${className} again, as it was when the VM was created. The deletion then continues.`,
        commands: [`kubectl get machineclasses -n ${namespace}`],
      };
}

/** What a user can do about a machine that is being deleted: only a drain is about disruption budgets. */
export function deletionRemedy(inputs: DeletionInputs, ofFailedCall: (code: string) => Remedy | undefined): Remedy {
  const { report, keptBy } = inputs;
  const { name, namespace, next, lastOperation } = report;
  const { stage, code } = readOperation(report);
  if (keptBy.length > 0)
    return {
      text: `The controllers are done. Find out why the owner of finalizer ${keptBy.join(", ")} does not remove it.`,
      commands: [`kubectl get machine ${name} -n ${namespace} -o jsonpath='{.metadata.finalizers}'`],
    };
  const ofInputs = stoppedByClass(inputs) ?? ofFailedCall(code ?? "");
  if (ofInputs !== undefined) return ofInputs;
  const commands = [`millwright describe machine ${name} -n ${namespace}`];
  if (stage === "Drain") return { text: next.person, commands };
  return lastOperation?.state === "Failed"
    ? { text: "Correct what the message names. The controllers repeat the call.", commands }
    : { text: "Nothing is needed while the deletion proceeds. If it takes long, check the VM in the cloud.", commands };
}
