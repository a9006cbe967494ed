import type { Machine, MachineClass } from "@millwright/core/machine-api";
import { isKnownRejected, readIntent } from "./creation-intent.ts";
import { differenceOf, placeOf } from "./vm-place.ts";

/** What the VM of a machine was requested with, and what its class has instead, as texts of a message. */
export interface ClassMove {
  readonly recorded: string;
  readonly present: string;
}

/** The name of the Secret with the credentials: that of `credentialsSecretRef` wins. `undefined` for none, which proves nothing. */
export const credentialsOf = (secret: string | undefined, credentials: string | undefined): string | undefined =>
  credentials ?? secret;

/**
 * How a class differs in what locates VMs from the one with which the VM of a machine was requested, since that was pointed elsewhere or the machine names another one: a driver that finds no VM looks in another place then, which proves nothing. `undefined` where nothing is recorded, as by
 * MCM. The contents of the Secret are not compared: lists of VMs show another account.
 */
export function moveOf(machine: Machine, machineClass: MachineClass): ClassMove | undefined {
  const intent = readIntent(machine);
  if (intent === undefined || isKnownRejected(machine)) return undefined;
  const place = differenceOf(intent.place ?? {}, placeOf(machineClass));
  if (place !== undefined) return { recorded: `${place.field} ${place.recorded}`, present: place.present };
  const before = credentialsOf(intent.secretRef, intent.credentialsSecretRef);
  const now = credentialsOf(machineClass.secretRef?.name, machineClass.credentialsSecretRef?.name);
  return before === undefined || before === now
    ? undefined
    : { recorded: `Secret ${before}`, present: now === undefined ? "none" : now };
}
