import { readQuarantine } from "@millwright/controllers";
import { machineClassResource, readMachineClass } from "@millwright/core";
import { apiTime } from "@millwright/kube";
import { explainFailure } from "./explain-failure.ts";
import { type NamedObject, readNamed } from "./read-named.ts";
import { unknownAnnotations } from "./unknown-annotations.ts";

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
}

/** What is known of a class. */
export interface MachineClassReport {
  readonly name: string;
  readonly namespace: string;
  readonly provider: string;
  /** In the order of their ids. */
  readonly orphans: readonly OrphanReport[];
  /** What else is to be known, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * Reads a class, and reports the VMs without machine that are recorded on it.
 *
 * @throws ConfigError when there is no such class, none that can be read, or it may not be read, and when the API server is unreachable
 */
export async function describeClass(options: NamedObject): Promise<MachineClassReport> {
  try {
    const machineClass = await readNamed(options, machineClassResource, readMachineClass);
    const orphans = [...readQuarantine(machineClass).vms].map(
      ([providerId, { machine, parts = [], since, deleteAfter }]): OrphanReport => ({
        providerId,
        machine,
        parts,
        since: apiTime(new Date(since)),
        deleteAfter: deleteAfter === undefined ? "" : apiTime(new Date(deleteAfter)),
      }),
    );
    return {
      name: machineClass.metadata.name,
      namespace: options.namespace,
      provider: machineClass.provider ?? "",
      orphans: orphans.toSorted((a, b) => (a.providerId < b.providerId ? -1 : 1)),
      notes: unknownAnnotations("MachineClass", machineClass.metadata),
    };
  } catch (error) {
    throw explainFailure(error, "a description needs to get machineclasses");
  }
}
