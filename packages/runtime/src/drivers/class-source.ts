import { readSecretValues, secretNamesOf } from "@millwright/controllers/driver-calls";
import type { SecretData } from "@millwright/base";
import {
  formatProblems,
  type MachineClass,
  machineClassResource,
  readMachineClass,
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, isNotFound, secretResource } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";

/** A class or a Secret, as it is stored. */
export type StoredObject = ApiObject & { readonly data?: Readonly<Record<string, string>> };

/** Where classes are read. */
export interface ClassSourceOptions {
  readonly control: Pick<ApiClient, "get">;
  readonly namespace: string;
  /** What has to be allowed, as a clause for messages: `a comparison needs to get machineclasses and their secrets`. */
  readonly needs: string;
  /** An object that the API server does not have, of another source. Default: none. */
  readonly otherwise?: (kind: string, name: string) => StoredObject | undefined;
  readonly signal: AbortSignal;
}

/** A class with its secret, or why it cannot be had. */
export type LoadedClass =
  | { readonly machineClass: MachineClass; readonly secret: SecretData }
  /** `about`: which of both is missing or cannot be read. */
  | { readonly problem: string; readonly about: "MachineClass" | "Secret" };

/** Calls a function once for each name. */
export function onceByName<T>(load: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (name) => {
    const promise = loaded.get(name) ?? load(name);
    loaded.set(name, promise);
    return promise;
  };
}

/**
 * Reads classes with their secrets from the API server, each once.
 *
 * @throws ConfigError where the API server is unreachable, or does not allow it
 */
export function createClassSource(options: ClassSourceOptions): (name: string) => Promise<LoadedClass> {
  const { control, namespace, needs, otherwise, signal } = options;
  const get = async (type: typeof machineClassResource | typeof secretResource, name: string) => {
    try {
      return await control.get<StoredObject>(type, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return otherwise?.(type.kind, name);
      throw explainFailure(error, needs);
    }
  };
  const secretNamed = onceByName((name) => get(secretResource, name));

  return onceByName(async (name): Promise<LoadedClass> => {
    const subject = `MachineClass "${name}"`;
    const raw = await get(machineClassResource, name);
    if (raw === undefined)
      return { problem: `${subject} does not exist in namespace ${namespace}`, about: "MachineClass" };
    const read = readMachineClass(raw);
    if (!read.ok)
      return { problem: `${subject} cannot be read: ${formatProblems(read.problems)}`, about: "MachineClass" };
    const machineClass = read.value;
    const secrets = await Promise.all(
      secretNamesOf(machineClass).map(async (secret) => ({ secret, object: await secretNamed(secret) })),
    );
    const missing = secrets.find(({ object }) => object === undefined);
    if (missing !== undefined)
      return {
        problem: `${subject}: Secret "${missing.secret}" does not exist in namespace ${namespace}`,
        about: "Secret",
      };
    return { machineClass, secret: readSecretValues(secrets.map(({ object }) => object?.data ?? {})) };
  });
}
