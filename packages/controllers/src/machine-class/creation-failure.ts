import { isMachineErrorCode, type MachineErrorCode } from "@millwright/core";
import { type Machine, readOperation } from "@millwright/core/machine-api";

/** Why no VM can be created from a class at present, in one word. Read by people and by scripts. */
export const creationFailures = [
  "CredentialRefused",
  "ResourceExhausted",
  "InvalidArgument",
  "CloudUnavailable",
] as const;

/** What a call for one machine shows about its class. */
export interface CreationFailure {
  readonly reason: (typeof creationFailures)[number];
  readonly message: string;
}

const byCode: { readonly [Code in MachineErrorCode]?: CreationFailure["reason"] } = {
  Unauthenticated: "CredentialRefused",
  PermissionDenied: "CredentialRefused",
  ResourceExhausted: "ResourceExhausted",
  InvalidArgument: "InvalidArgument",
};

/**
 * Why the VM of a machine cannot be created, where the cause concerns its whole class: credential, quota, a spec that the cloud rejects, or a cloud that does not answer many machines. A deletion
 * shows a refused credential, too.
 */
export function creationFailureOf(machine: Machine): CreationFailure | undefined {
  const { status } = machine;
  const { state, type } = status?.lastOperation ?? {};
  if (state !== "Failed") return undefined;
  const { code, message = "", reason, heldBack = false } = readOperation(status);
  if (!isMachineErrorCode(code)) return undefined;
  const cause = byCode[code] ?? (heldBack ? "CloudUnavailable" : undefined);
  if (cause === undefined) return undefined;
  const isCreation = type === "Create" && reason === "CreationFailed" && isBeingCreated(machine);
  if (!isCreation && !(type === "Delete" && cause === "CredentialRefused")) return undefined;
  return { reason: cause, message: `${code}: ${message}` };
}

/** A Failed machine is replaced, and the next one shows whether the cause lasts. */
const isBeingCreated = ({ metadata, status }: Machine): boolean =>
  metadata.deletionTimestamp == null && ["", "CrashLoopBackOff"].includes(status?.currentStatus?.phase ?? "");

/** The failure that is shown of several machines: the same one, in whatever order they come. */
export function worstFailure(machines: readonly Machine[]): CreationFailure | undefined {
  const failures = machines
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((machine) => creationFailureOf(machine) ?? []);
  return creationFailures.flatMap((reason) => failures.find((failure) => failure.reason === reason) ?? [])[0];
}
