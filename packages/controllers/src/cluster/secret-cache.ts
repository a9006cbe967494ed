import { createHash } from "node:crypto";
import type { MachineClass } from "@millwright/core/machine-api";
import {
  type ApiClient,
  createInformer,
  ignoreNotFound,
  type Informer,
  type InformerOptions,
  secretResource,
  trimObject,
  withTypeMeta,
} from "@millwright/kube";
import { secretNamesOf } from "../model/class-references.ts";
import type { SecretObject } from "../model/node-objects.ts";

/** Values of a Secret, base64. */
export type SecretValues = Readonly<Record<string, string>>;

/**
 * The Secrets of the namespace. Its store has no values, since most Secrets are unrelated to machines: those that classes refer to are read by name when they are
 * needed, and again when they have changed. One request per version of such a Secret, however many machines need it.
 */
export interface SecretCache extends Informer<SecretObject> {
  /** The values of a Secret of that name, of the version in the store; `undefined` when there is none, or when they have to be read first. */
  valuesOf(name: string): SecretValues | undefined;
  /**
   * Reads the values of existing Secrets that a class refers to and that are not cached yet.
   *
   * @throws ApiError when a request fails
   */
  read(names: readonly string[]): Promise<void>;
}

export interface SecretCacheOptions extends Omit<InformerOptions<SecretObject, never>, "type" | "trim"> {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly classes: Pick<Informer<MachineClass, "secret">, "store">;
}

/** Identifies values, whatever the order of their keys. */
function digestOf(values: SecretValues = {}): string {
  const sorted = Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("base64");
}

/** What the store keeps of a Secret as it comes from the API server. */
const withoutValues = (secret: SecretObject): SecretObject =>
  // Events name the kind of their object, which a list of a real API server lacks.
  withTypeMeta(secretResource, { metadata: trimObject(secret).metadata, digest: digestOf(secret.data) });

export function createSecretCache({ classes, ...options }: SecretCacheOptions): SecretCache {
  const { api, namespace } = options;
  const informer = createInformer<SecretObject>({ ...options, type: secretResource, trim: withoutValues });
  /** By name; only of Secrets that a class refers to. */
  const held = new Map<string, { readonly digest: string; readonly values: SecretValues }>();
  /** Requests in flight, by name. */
  const underWay = new Map<string, Promise<void>>();

  const storedOf = (name: string): SecretObject | undefined => informer.store.getByRef({ namespace, name });
  const isNeeded = (name: string): boolean => classes.store.byIndex("secret", name).length > 0;
  const valuesOf = (name: string): SecretValues | undefined => {
    const own = held.get(name);
    return own !== undefined && own.digest === storedOf(name)?.digest ? own.values : undefined;
  };
  const readOne = async (name: string, uid: string | undefined): Promise<void> => {
    const secret = await ignoreNotFound(api.get<SecretObject>(secretResource, { namespace, name }));
    if (secret === undefined) return informer.store.applyDelete({ namespace, name, uid });
    // The Secret may be unused by now.
    if (isNeeded(name)) held.set(name, { digest: digestOf(secret.data), values: secret.data ?? {} });
    informer.store.applyWrite(secret);
  };

  classes.store.subscribe((old) => {
    for (const name of old === undefined ? [] : secretNamesOf(old)) if (!isNeeded(name)) held.delete(name);
  });
  informer.store.subscribe((old, current) => {
    if (current === undefined && old !== undefined) held.delete(old.metadata.name);
  });

  return {
    ...informer,
    valuesOf,
    async read(names) {
      const reads = names.flatMap((name) => {
        const stored = storedOf(name);
        if (stored === undefined || valuesOf(name) !== undefined || !isNeeded(name)) return [];
        const request = underWay.get(name) ?? readOne(name, stored.metadata.uid).finally(() => underWay.delete(name));
        underWay.set(name, request);
        return [request];
      });
      await Promise.all(reads);
    },
  };
}
