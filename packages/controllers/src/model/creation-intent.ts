import { annotationKeys, isRecord, type Machine, type MachineClass } from "@millwright/core";

/**
 * What is remembered on a machine before its driver is asked for a VM: enough to find and delete that VM when the answer, this process or the class
 * is lost. Names only, never credentials.
 */
export interface CreationIntent {
  /** The idempotency token of the attempt, from UID and attempt: the same for every try, also of another process. */
  readonly token: string;
  /** Counts from 1. Grows when a token is spent: no VM of it is left or will come. */
  readonly attempt: number;
  readonly class: string;
  readonly provider: string;
  readonly region?: string;
  readonly zone?: string;
  readonly secretRef?: string;
  readonly credentialsSecretRef?: string;
  /** The user data asks for a bootstrap token: one may exist in the target cluster. */
  readonly bootstrapToken?: true;
  /** The existing Node under whose name the VM came up: the VM is to be deleted, and the machine Failed then. */
  readonly staleNode?: string;
}

/** Longest annotation that is read: one of ours has a few hundred characters. */
const MAX_LENGTH = 8192;

/** The token has room for 64 characters, a UID has 36. */
const tokenOf = ({ metadata }: Machine, attempt: number): string => `${(metadata.uid ?? "").slice(0, 50)}-${attempt}`;

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The intent of a machine; `undefined` when there is none, or none that can be read. */
export function readIntent(machine: Machine): CreationIntent | undefined {
  const text = machine.metadata.annotations?.[annotationKeys.creationIntent];
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  const value = parsed(text);
  if (!isRecord(value)) return undefined;
  const { attempt } = value;
  const name = textOf(value["class"]);
  if (typeof attempt !== "number" || !Number.isSafeInteger(attempt) || attempt < 1 || name === undefined)
    return undefined;
  const optional = (key: "region" | "zone" | "secretRef" | "credentialsSecretRef" | "staleNode") => {
    const own = textOf(value[key]);
    return own === undefined ? {} : { [key]: own };
  };
  return {
    // By the machine's own UID, whatever is written: an annotation that was copied to another machine must not share its token.
    token: tokenOf(machine, attempt),
    attempt,
    class: name,
    provider: textOf(value["provider"]) ?? "",
    ...optional("region"),
    ...optional("zone"),
    ...optional("secretRef"),
    ...optional("credentialsSecretRef"),
    ...(value["bootstrapToken"] === true ? { bootstrapToken: true } : {}),
    ...optional("staleNode"),
  };
}

/** What is about to be asked of the driver. `isSpent`: the token of the attempt before is of no use any more. */
export function intentFor(
  machine: Machine,
  machineClass: MachineClass,
  { wantsToken, isSpent = false }: { readonly wantsToken: boolean; readonly isSpent?: boolean },
): CreationIntent {
  const attempt = (readIntent(machine)?.attempt ?? 1) + (isSpent ? 1 : 0);
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
    ...(secret === "" ? {} : { secretRef: secret }),
    ...(credentials === "" ? {} : { credentialsSecretRef: credentials }),
    ...(wantsToken ? { bootstrapToken: true } : {}),
  };
}

/** An intent as it is written. The token is left out: it follows from UID and attempt, and a machine that is only about to be declared has no UID. */
const textOfIntent = (intent: CreationIntent): string => JSON.stringify({ ...intent, token: undefined });

/** The annotation that holds an intent. */
export const intentAnnotation = (intent: CreationIntent): Readonly<Record<string, string>> => ({
  [annotationKeys.creationIntent]: textOfIntent(intent),
});

/** Whether a machine says this already. */
export const isStored = (machine: Machine, intent: CreationIntent): boolean =>
  machine.metadata.annotations?.[annotationKeys.creationIntent] === textOfIntent(intent);
