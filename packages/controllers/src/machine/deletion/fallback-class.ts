import type { Machine, MachineClass } from "@millwright/core/machine-api";
import type { ControlCaches } from "../../cluster/caches.ts";
import { resolveClass, type ResolvedClass } from "../../cluster/class-view.ts";
import type { MachineDriver } from "../../model/driver-port.ts";
import { isDeleting } from "../../model/phase.ts";
import { hasId } from "../../model/provisioning.ts";
import { type CreationIntent, readIntent } from "../../model/creation-intent.ts";
import { credentialsOf } from "../../model/moved-class.ts";
import { differenceOf, placeOf } from "../../model/vm-place.ts";

/** Whether a VM of the intent can be deleted through another class: same driver, same place, same credentials. */
function isFallbackFor(machineClass: MachineClass, intent: CreationIntent): boolean {
  const { provider = "", nodeTemplate, secretRef, credentialsSecretRef } = machineClass;
  const own = credentialsOf(secretRef?.name, credentialsSecretRef?.name);
  return (
    provider.toLowerCase() === intent.provider.toLowerCase() &&
    (nodeTemplate?.region ?? "") === (intent.region ?? "") &&
    differenceOf(intent.place ?? {}, placeOf(machineClass)) === undefined &&
    own !== undefined &&
    own === credentialsOf(intent.secretRef, intent.credentialsSecretRef)
  );
}

/** Whether a machine is terminating and has a VM that could be deleted through another class; see {@link fallbackClassFor}. */
export const mayNeedFallbackClass = (machine: Machine): boolean =>
  isDeleting(machine) && hasId(machine) && readIntent(machine) !== undefined;

/**
 * The class through which the VM of a machine can be deleted when its own class does not exist: one of the same driver, region and credentials, preferably of the same zone.
 * Requires the id of the VM: a driver that searches by other criteria could search in the wrong place, find nothing and orphan the VM. `undefined` when
 * there is none; then a user has to restore the class. A class whose secrets have to be read first lists them in `unread`.
 */
export function fallbackClassFor(
  machine: Machine,
  caches: ControlCaches,
  namespace: string,
  driver: Pick<MachineDriver, "missingDriver">,
): ResolvedClass | undefined {
  const intent = readIntent(machine);
  if (intent === undefined || !hasId(machine)) return undefined;
  const isElsewhere = ({ nodeTemplate }: MachineClass): number =>
    (nodeTemplate?.zone ?? "") === (intent.zone ?? "") ? 0 : 1;
  const candidates = [...caches.classes.store.list()]
    .filter((machineClass) => isFallbackFor(machineClass, intent))
    .toSorted((a, b) => isElsewhere(a) - isElsewhere(b) || a.metadata.name.localeCompare(b.metadata.name));
  for (const { metadata } of candidates) {
    const withClass = { ...machine, spec: { ...machine.spec, class: { kind: "MachineClass", name: metadata.name } } };
    const resolved = resolveClass(withClass, caches, namespace, driver);
    if (resolved.view.state === "usable" || resolved.unread.length > 0) return resolved;
  }
  return undefined;
}

/** What a user can do about a VM whose class does not exist: names what the VM was created from. */
export function remedyFor(machine: Machine): string {
  const intent = readIntent(machine);
  if (intent === undefined) return "";
  const { class: name, provider, region, secretRef, credentialsSecretRef } = intent;
  const secrets = [secretRef, credentialsSecretRef].filter((each) => each !== undefined).map((each) => `"${each}"`);
  const where = region === undefined ? "" : ` in region ${region}`;
  return `; its VM was created by driver "${provider}"${where} from MachineClass "${name}" with Secret ${secrets.join(" and ")}: restore them`;
}
