import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf } from "@millwright/kube";
import type { ControlCaches } from "./caches.ts";

interface Cached {
  readonly caches: Pick<ControlCaches, "sets" | "deployments">;
  readonly namespace: string;
}

/** The object of a name and UID, by the reference of a controlled object; one with another UID does not control it. */
function controllerIn<T extends ApiObject>(
  object: ApiObject,
  kind: string,
  named: (name: string) => T | undefined,
): T | undefined {
  const owner = controllerRefOf(object);
  if (owner?.kind !== kind) return undefined;
  const found = named(owner.name);
  return found?.metadata.uid === owner.uid ? found : undefined;
}

/** The set that controls a machine and the deployment that controls the set, as they are in the caches, whatever is wrong with their specs. */
export function ownersOfMachine(
  machine: Machine,
  { caches, namespace }: Cached,
): { readonly set: MachineSet | undefined; readonly deployment: MachineDeployment | undefined } {
  const set = controllerIn(machine, "MachineSet", (name) => caches.sets.store.getByRef({ namespace, name }));
  const deployment =
    set === undefined
      ? undefined
      : controllerIn(set, "MachineDeployment", (name) => caches.deployments.store.getByRef({ namespace, name }));
  return { set, deployment };
}
