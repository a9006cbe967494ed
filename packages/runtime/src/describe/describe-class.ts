import { readQuarantine } from "@millwright/controllers/reports";
import {
  type Machine,
  type MachineClass,
  machineClassResource,
  machineResource,
  readMachineClass,
  readOperation,
} from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { secretsOf } from "../explain/class-remedy.ts";
import { type ClassStatus, classStatusOf, unknownAnnotations, unknownKeyNotes } from "../explain/annotation-notes.ts";
import { explainFailure } from "./explain-failure.ts";
import { countPhases } from "./group-report.ts";
import { type NamedObject, readNamed } from "./read-named.ts";

/** A VM without machine, or what is left of one. */
export interface OrphanReport {
  readonly providerId: string;
  /** Name of the Machine that it was created for. */
  readonly machine: string;
  /** What is left of the VM; empty: the VM itself. */
  readonly parts: readonly string[];
  /** When it was put in quarantine, as the API writes times. */
  readonly since: string;
  /** From when on it will be deleted if it has no machine by then, likewise; empty: it is only reported. */
  readonly deleteAfter: string;
  /** Since when its Node is drained, likewise; absent before. */
  readonly draining?: string;
  /** When it was deleted, likewise: its Node is not yet. */
  readonly deleted?: string;
}

/** A failure that machines of a class report. */
export interface ClassFailure {
  /** Of the driver; empty where the failure has none. */
  readonly code: string;
  readonly machines: number;
  /** The name of one of them. */
  readonly example: string;
  /** As that machine reports it. */
  readonly message: string;
}

/** What is known of a class. */
export interface MachineClassReport {
  readonly name: string;
  readonly namespace: string;
  readonly provider: string;
  /** Whether VMs can be created from it now: `Ready`, or why not; absent before the controllers have recorded it. */
  readonly status?: ClassStatus;
  /** Names of the Secrets, the one with the credentials first. */
  readonly secrets: readonly string[];
  /** Number of machines by phase, in the order of the phases' names; without a phase yet: `being created`. */
  readonly phases: Readonly<Record<string, number>>;
  /** Whether machines report that calls with the credential of the class are held back. */
  readonly isHeldBack: boolean;
  /** Failed operations by code, the most frequent first. */
  readonly failures: readonly ClassFailure[];
  /** In the order of their ids. */
  readonly orphans: readonly OrphanReport[];
  /** What else is to be known, a sentence each. */
  readonly notes: readonly string[];
}

/** Whether the call of a machine is not made, since its credential is refused; see the circuit breaker of the machine controller. */
const isHeldBack = ({ status }: Machine): boolean => readOperation(status).heldBack === true;

function failuresOf(machines: readonly Machine[]): readonly ClassFailure[] {
  const byCode = new Map<string, Machine[]>();
  for (const machine of machines) {
    const { state, errorCode = "" } = machine.status?.lastOperation ?? {};
    if (state === "Failed") byCode.set(errorCode, [...(byCode.get(errorCode) ?? []), machine]);
  }
  return [...byCode]
    .map(([code, failed]): ClassFailure => {
      // One that was held back names the credential.
      const [first] = failed.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
      const example = failed.find(isHeldBack) ?? first;
      return {
        code,
        machines: failed.length,
        example: example?.metadata.name ?? "",
        message: example?.status?.lastOperation?.description ?? "",
      };
    })
    .toSorted((a, b) => b.machines - a.machines || (a.code < b.code ? -1 : 1));
}

const timeOf = (ms: number | undefined): string => (ms === undefined ? "" : apiTime(new Date(ms)));

const orphansOf = (machineClass: MachineClass): readonly OrphanReport[] =>
  [...readQuarantine(machineClass).vms]
    .map(([providerId, { machine, parts = [], since, deleteAfter, draining, deleted }]): OrphanReport => ({
      providerId,
      machine,
      parts,
      since: apiTime(new Date(since)),
      deleteAfter: timeOf(deleteAfter),
      ...(draining === undefined ? {} : { draining: timeOf(draining) }),
      ...(deleted === undefined ? {} : { deleted: timeOf(deleted) }),
    }))
    .toSorted((a, b) => (a.providerId < b.providerId ? -1 : 1));

/**
 * Reports the state of a class and its machines, and the VMs without machine that are recorded on it. Whether calls are held back is known from the machines: the controllers keep it in
 * memory.
 */
export function classReport(
  machineClass: MachineClass,
  all: readonly Machine[],
  namespace: string,
): MachineClassReport {
  const { metadata, provider = "" } = machineClass;
  const status = classStatusOf(machineClass);
  const machines = all.filter(({ spec }) => spec?.class?.name === metadata.name);
  return {
    name: metadata.name,
    namespace,
    provider,
    ...(status === undefined ? {} : { status }),
    secrets: secretsOf(machineClass),
    phases: countPhases(machines),
    isHeldBack: machines.some(isHeldBack),
    failures: failuresOf(machines),
    orphans: orphansOf(machineClass),
    notes: [...unknownKeyNotes([machineClass]), ...unknownAnnotations("MachineClass", metadata)],
  };
}

/**
 * Reads a class and its machines, and reports as {@link classReport}.
 *
 * @throws ConfigError when there is no such class, none that can be read, or something may not be read, and when the API server is unreachable
 */
export async function describeClass(options: NamedObject): Promise<MachineClassReport> {
  const { control, namespace, signal } = options;
  try {
    const machineClass = await readNamed(options, machineClassResource, readMachineClass);
    const asked = { namespace, ...(signal === undefined ? {} : { signal }) };
    const { items } = await control.list<Machine>(machineResource, asked);
    return classReport(machineClass, items, namespace);
  } catch (error) {
    throw explainFailure(error, "a description needs to get machineclasses, and to list machines");
  }
}
