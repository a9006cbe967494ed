import { ConfigError, isRecord } from "@millwright/base";
import {
  formatProblems,
  type Machine,
  machineGroup,
  machineApiVersion,
  type MachineClass,
  type MachineDeployment,
  type MachineSet,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
} from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf, type KubeObject } from "@millwright/kube";
import type { StoredObject } from "../drivers/class-source.ts";
import { type BackupKind, backupKinds } from "./backup-kinds.ts";
import { portableObject } from "./portable-object.ts";

/** An object of a file, and its place in it. */
export interface BackupManifest {
  /** File and number of the document, for messages. */
  readonly source: string;
  readonly object: ApiObject;
}

/** An object to restore. */
export interface BackupObject<T> {
  readonly source: string;
  readonly name: string;
  /** As it is created. */
  readonly object: KubeObject;
  readonly typed: T;
  /** Name of its owner, where the file has one. */
  readonly owner?: string;
}

/** What a file has to restore, by kind. */
export interface Backup {
  readonly secrets: readonly BackupObject<StoredObject>[];
  readonly classes: readonly BackupObject<MachineClass>[];
  readonly sets: readonly BackupObject<MachineSet>[];
  readonly machines: readonly BackupObject<Machine>[];
  readonly deployments: readonly BackupObject<MachineDeployment>[];
  /** Objects of other kinds, a sentence each. */
  readonly notes: readonly string[];
}

/** Reads objects of one kind. What is invalid beyond that was so in the cluster, too. */
type Reader<T> = (raw: unknown) => ReadResult<T>;

const apiVersionOf = (kind: BackupKind): string => (kind === "Secret" ? "v1" : machineApiVersion);

/** The kind of an object of a backup; `undefined` for any other. */
function kindOf({ apiVersion, kind }: ApiObject): BackupKind | undefined {
  const known = backupKinds.find((each) => each.kind === kind)?.kind;
  return known !== undefined && apiVersion === apiVersionOf(known) ? known : undefined;
}

/** @throws ConfigError for one that cannot be created */
function readOne<T>({ source, object }: BackupManifest, namespace: string, read: Reader<T>): BackupObject<T> {
  const { kind = "", metadata } = object;
  const { name = "" } = metadata;
  const subject = `${source}: ${kind} "${name}"`;
  if (name === "") throw new ConfigError(`${source}: ${kind}: metadata.name is required`);
  if (metadata.namespace !== undefined && metadata.namespace !== namespace)
    throw new ConfigError(
      `${subject}: metadata.namespace is ${metadata.namespace}, expected ${namespace}; use --namespace ${metadata.namespace}`,
    );
  const portable = portableObject({ ...object });
  const own = { ...portable, metadata: { ...portable.metadata, namespace } };
  const result = read(own);
  if (!result.ok) throw new ConfigError(`${subject}: ${formatProblems(result.problems)}`);
  const owner = controllerRefOf(object);
  const isOurs = owner?.apiVersion.startsWith(`${machineGroup}/`) === true;
  return { source, name, object: own, typed: result.value, ...(isOurs ? { owner: owner.name } : {}) };
}

const textsOf = (raw: unknown, field: string): readonly (readonly [string, string])[] =>
  Object.entries(isRecord(raw) && isRecord(raw[field]) ? raw[field] : {}).map(([key, value]) => [key, String(value)]);

/** A Secret of a file may have values as text, too. */
const readSecret: Reader<StoredObject> = (raw) => {
  const texts = textsOf(raw, "stringData").map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return { ok: true, value: { metadata: {}, data: Object.fromEntries([...textsOf(raw, "data"), ...texts]) } };
};

/**
 * Reads what a file has of a fleet: an export of `millwright export`, or one of `kubectl get -o json` or `-o yaml`, of which status, UIDs and owners are left out.
 *
 * @throws ConfigError that names file, document, object and field
 */
export function readBackup(manifests: readonly BackupManifest[], namespace: string): Backup {
  const seen = new Map<string, string>();
  const all = <T>(wanted: BackupKind, reader: Reader<T>): readonly BackupObject<T>[] =>
    manifests
      .filter(({ object }) => kindOf(object) === wanted)
      .map((manifest) => {
        const read = readOne(manifest, namespace, reader);
        const key = `${wanted} "${read.name}"`;
        const first = seen.get(key);
        if (first !== undefined) throw new ConfigError(`${read.source}: ${key} is also in ${first}`);
        seen.set(key, read.source);
        return read;
      });
  const others = manifests.filter(({ object }) => kindOf(object) === undefined);
  const backup = {
    secrets: all("Secret", readSecret),
    classes: all("MachineClass", readMachineClass),
    sets: all("MachineSet", readMachineSet),
    machines: all("Machine", readMachine),
    deployments: all("MachineDeployment", readMachineDeployment),
    notes: others.map(({ source, object }) => `${source}: ${object.kind ?? "an object without kind"} is not restored`),
  };
  if (seen.size === 0)
    throw new ConfigError(
      `${manifests[0]?.source ?? "the file"}: has no Machine, MachineSet, MachineDeployment, MachineClass or Secret`,
    );
  return backup;
}
