import type { Clock } from "@millwright/base";
import { finalizers, type Machine } from "@millwright/core/machine-api";
import { controllerRefOf, type Informer, keyFor } from "@millwright/kube";

/** Machines that are missing since the API server went back to an earlier state, though their VMs were not deleted. */
export interface VanishedMachines {
  /** How many belonged to the MachineSet of this key, within the last minute. By name: a set that was restored or created again may have another UID. */
  countOf(setKey: string): number;
  forget(setKey: string): void;
}

/** Whether a machine exists until its VM is deleted, which had not begun. */
const isGuarded = ({ metadata }: Machine): boolean =>
  metadata.finalizers?.includes(finalizers.machine) === true && metadata.deletionTimestamp == null;

/** How long a set that lacks machines is taken to lack those, milliseconds: its deployment may have to scale it first. What it needs later has another reason. */
const memoryMs = 60_000;

/** Follows a cache: what it removes while it is not current was lost with the history of the server, and not deleted by anyone. */
export function trackVanishedMachines(
  machines: Pick<Informer<Machine>, "store" | "isCurrent">,
  clock: Pick<Clock, "monotonicMs">,
): VanishedMachines {
  /** By key of the set and name of the machine: when it vanished. */
  const vanished = new Map<string, Map<string, number>>();
  machines.store.subscribe((old, current) => {
    const machine = current ?? old;
    const owner = machine === undefined ? undefined : controllerRefOf(machine);
    if (machine === undefined || owner?.kind !== "MachineSet") return;
    const key = keyFor({ namespace: machine.metadata.namespace ?? "", name: owner.name });
    if (current !== undefined) vanished.get(key)?.delete(machine.metadata.name);
    else if (!machines.isCurrent() && isGuarded(machine))
      vanished.set(
        key,
        (vanished.get(key) ?? new Map<string, number>()).set(machine.metadata.name, clock.monotonicMs()),
      );
  });
  return {
    countOf: (setKey) =>
      [...(vanished.get(setKey)?.values() ?? [])].filter((atMs) => clock.monotonicMs() - atMs < memoryMs).length,
    forget: (setKey) => void vanished.delete(setKey),
  };
}
