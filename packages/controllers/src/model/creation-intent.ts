import { isRecord } from "@millwright/base";
import { annotationKeys, type Machine, type MachineClass } from "@millwright/core/machine-api";
import { placeOf, placeIn, type VmPlace } from "./vm-place.ts";

/**
 * What is stored on a machine before a VM is requested from its driver: enough to find and delete that VM when the response, this process or the class
 * is lost. Names only, never credentials.
 */
export interface CreationIntent {
  /** The idempotency token of the attempt, from UID and attempt: the same for each retry, also of another process. */
  readonly token: string;
  /** Counts from 1. Incremented when a token is spent: no VM of it exists or will exist. */
  readonly attempt: number;
  readonly class: string;
  readonly provider: string;
  readonly region?: string;
  readonly zone?: string;
  /** Where the VM was requested. */
  readonly place?: VmPlace;
  readonly secretRef?: string;
  readonly credentialsSecretRef?: string;
  /** Every attempt was rejected, and there will be no other one: the machine is being deleted, or Failed. */
  readonly isRejected?: true;
  /** Whether the user data contains the placeholder of a bootstrap token: one may exist in the target cluster. */
  readonly bootstrapToken?: true;
  /** Whether the VM had to be initialized when its id was stored. */
  readonly needsInitialization?: true;
  /** The VM of another Machine with which the driver answered a creation: of this machine only the object is deleted. */
  readonly foreignVm?: string;
  /** The existing Node under whose name the VM came up: the VM will be deleted, then the machine is Failed. */
  readonly staleNode?: string;
}

/** Longest annotation that is read: ours have a few hundred characters. */
const MAX_LENGTH = 8192;

/** The token has room for 64 characters, a UID has 36. */
const tokenOf = ({ metadata }: Pick<Machine, "metadata">, attempt: number): string =>
  `${(metadata.uid ?? "").slice(0, 50)}-${attempt}`;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The intent of a machine; `undefined` when there is none, or it cannot be read. */
export function readIntent(machine: Pick<Machine, "metadata">): CreationIntent | undefined {
  const text = machine.metadata.annotations?.[annotationKeys.creationIntent];
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { attempt } = value;
  const name = textOf(value["class"]);
  if (typeof attempt !== "number" || !Number.isSafeInteger(attempt) || attempt < 1 || name === undefined)
    return undefined;
  const optional = (key: "region" | "zone" | "secretRef" | "credentialsSecretRef" | "foreignVm" | "staleNode") => {
    const own = textOf(value[key]);
    return own === undefined ? {} : { [key]: own };
  };
  return {
    // From the machine's own UID, whatever is stored: a copied annotation must not share the token of another machine.
    token: tokenOf(machine, attempt),
    attempt,
    class: name,
    provider: textOf(value["provider"]) ?? "",
    ...optional("region"),
    ...optional("zone"),
    ...placeIn(value["place"]),
    ...optional("secretRef"),
    ...optional("credentialsSecretRef"),
    ...(value["isRejected"] === true ? { isRejected: true } : {}),
    ...(value["bootstrapToken"] === true ? { bootstrapToken: true } : {}),
    ...(value["needsInitialization"] === true ? { needsInitialization: true } : {}),
    ...optional("foreignVm"),
    ...optional("staleNode"),
  };
}

/** The intent of a machine on which none is stored although its driver was called. */
export const newIntent = ({ metadata, spec }: Pick<Machine, "metadata" | "spec">): CreationIntent => ({
  token: tokenOf({ metadata }, 1),
  attempt: 1,
  class: spec.class?.name ?? "",
  provider: "",
});

/** The intent of the next driver call. `isSpent`: the token of the previous attempt cannot be used again. */
export function intentFor(
  machine: Machine,
  machineClass: MachineClass,
  { wantsToken, isSpent = false }: { readonly wantsToken: boolean; readonly isSpent?: boolean },
): CreationIntent {
  const { attempt: before = 1, foreignVm } = readIntent(machine) ?? {};
  const attempt = before + (isSpent ? 1 : 0);
  const { provider = "", nodeTemplate, secretRef, credentialsSecretRef } = machineClass;
  const { region = "", zone = "" } = nodeTemplate ?? {};
  const { name: secret = "" } = secretRef ?? {};
  const { name: credentials = "" } = credentialsSecretRef ?? {};
  return {
    token: tokenOf(machine, attempt),
    attempt,
    class: machineClass.metadata.name,
    provider,
    ...(region === "" ? {} : { region }),
    ...(zone === "" ? {} : { zone }),
    ...placeIn(placeOf(machineClass)),
    ...(secret === "" ? {} : { secretRef: secret }),
    ...(credentials === "" ? {} : { credentialsSecretRef: credentials }),
    ...(wantsToken ? { bootstrapToken: true } : {}),
    ...(foreignVm === undefined ? {} : { foreignVm }),
  };
}

/** An intent as it is stored. The token is omitted: it follows from UID and attempt, and a machine that is not created yet has no UID. */
const textOfIntent = (intent: CreationIntent): string => JSON.stringify({ ...intent, token: undefined });

/** The annotation that holds an intent. */
export const intentAnnotation = (intent: CreationIntent): Readonly<Record<string, string>> => ({
  [annotationKeys.creationIntent]: textOfIntent(intent),
});

const noRequestText = JSON.stringify({ attempt: 0 });

/** The annotation of a machine for which no driver was asked yet: there is no VM. It is replaced by an intent before the first call. */
export const noRequestAnnotation: Readonly<Record<string, string>> = { [annotationKeys.creationIntent]: noRequestText };

/** Whether it is recorded that no VM was requested for the machine. A machine without any record may have one: MCM records nothing. */
export const isWithoutRequest = ({ metadata, spec }: Machine): boolean =>
  (spec.providerID ?? "") === "" && metadata.annotations?.[annotationKeys.creationIntent] === noRequestText;

/** Whether it is recorded that every request for a VM was rejected. */
export const isKnownRejected = (machine: Machine): boolean =>
  (machine.spec.providerID ?? "") === "" && readIntent(machine)?.isRejected === true;

/** Whether the machine has this intent already. */
export const isStored = (machine: Machine, intent: CreationIntent): boolean =>
  machine.metadata.annotations?.[annotationKeys.creationIntent] === textOfIntent(intent);
