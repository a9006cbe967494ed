import { nameList } from "@millwright/base";
import {
  annotationKeys,
  deletionProtectedConditionType,
  deletionProtectedReasons,
  eventReasons,
  isGoTrue,
  machineEventReasons,
  type ObjectMeta,
} from "@millwright/core/machine-api";
import type { Hold } from "./hold.ts";

/** What protection depends on: the metadata of an object. */
interface Protectable {
  readonly metadata: Pick<ObjectMeta, "name" | "annotations" | "deletionTimestamp">;
}

/** Whether the annotation of the object itself protects it from deletion. Other switches of MCM are spelled `True`: here it must not mean "unprotected". */
export const isProtected = ({ metadata }: Protectable): boolean =>
  isGoTrue(metadata.annotations?.[annotationKeys.deletionProtection]);

/** The object whose annotation keeps another one, or itself. */
export interface Protector {
  readonly kind: "Machine" | "MachineDeployment";
  readonly name: string;
}

/**
 * The API servers of a control plane stamp deletions with their own clocks, milliseconds. An owner that was deleted up to this long after its machine counts as the cause: a machine that is kept in doubt
 * loses nothing.
 */
const SKEW_MS = 60_000;

/** Whether the machine may be deleted because this owner is. */
function mayCascade(owner: Protectable | undefined, { metadata }: Protectable): boolean {
  const ownerDeletedAt = Date.parse(owner?.metadata.deletionTimestamp ?? "");
  return ownerDeletedAt <= Date.parse(metadata.deletionTimestamp ?? "") + SKEW_MS;
}

/** The set and the deployment of a machine, as far as they exist. */
export interface MachineOwners {
  readonly set?: Protectable | undefined;
  readonly deployment?: Protectable | undefined;
}

/**
 * What protects a terminating machine: its own annotation, or that of its deployment when the machine is deleted with the deployment or with one of its sets. Machines that a protected deployment
 * replaces, or deletes in a scale-down, are not protected.
 */
export function protectorOf(machine: Protectable, { set, deployment }: MachineOwners): Protector | undefined {
  if (isProtected(machine)) return { kind: "Machine", name: machine.metadata.name ?? "" };
  if (deployment === undefined || !isProtected(deployment)) return undefined;
  const isCascade = mayCascade(deployment, machine) || mayCascade(set, machine);
  return isCascade ? { kind: "MachineDeployment", name: deployment.metadata.name ?? "" } : undefined;
}

/** What a person can do about it. */
export const protectionRemedy = ({ kind, name }: Protector): string =>
  `To delete it, remove annotation ${annotationKeys.deletionProtection} from ${kind} ${name}`;

/** Of a terminating machine that is kept. */
export const protectedMachineMessage = (protector: Protector): string =>
  `Deletion paused: ${protector.kind} ${protector.name} is protected. No node is drained and no VM is deleted. ${protectionRemedy(protector)}`;

/** The hold of a terminating Machine that is protected. */
export const protectionHold = (protector: Protector): Hold => ({
  by: "protection",
  holds: "deletion",
  message: protectedMachineMessage(protector),
  remedy: protectionRemedy(protector),
  event: { type: "Warning", reason: machineEventReasons.deletionPaused },
  stalls: "DeletionProtected",
});

/** Of a machine that would be deleted because its node is. */
export const protectedFromNodeMessage = (machine: string, node: string): string =>
  `Node ${node} is being deleted, and Machine ${machine} is protected. The machine is kept. ${protectionRemedy({ kind: "Machine", name: machine })}`;

const ofOwner = (reason: string, what: string, remedy: string): Hold => ({
  by: "protection",
  holds: "deletion",
  message: `${what}. ${remedy}`,
  remedy,
  event: { type: "Warning", reason: eventReasons.deletionProtected },
  condition: { type: deletionProtectedConditionType, status: "True", reason },
});

/** The hold of a terminating set or deployment, while the deployment is protected. */
export const protectedOwnerHold = (name: string): Hold =>
  ofOwner(
    deletionProtectedReasons.objectProtected,
    `Deletion paused: MachineDeployment ${name} is protected. Nothing of it is created, scaled or deleted`,
    protectionRemedy({ kind: "MachineDeployment", name }),
  );

/** The hold of a set, or of what a plan deletes, whose protected machines would be deleted; `undefined` without any. */
export function protectedMachinesHold(machines: readonly Protectable[]): Hold | undefined {
  if (machines.length === 0) return undefined;
  const sorted = machines.map(({ metadata }) => metadata.name ?? "").toSorted();
  const list = nameList(sorted);
  const remedy = `To delete them, remove their annotation ${annotationKeys.deletionProtection}`;
  return ofOwner(deletionProtectedReasons.machinesProtected, `Cannot delete protected machines: ${list}`, remedy);
}
