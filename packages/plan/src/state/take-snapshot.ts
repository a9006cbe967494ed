import { trimNode, trimPod } from "@millwright/controllers";
import { isRecord, type ResourceType } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  type KubeObject,
  eventResource,
  isForbidden,
  listAll,
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  secretResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { explainFailure } from "@millwright/runtime/reports";
import { snapshotKind } from "./cluster-state.ts";

/** Where a snapshot is taken. */
export interface SnapshotOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent where there is none. */
  readonly target?: ApiClient | undefined;
  readonly namespace: string;
  readonly now: Date;
  /** Version of this program, for the reader of the file. */
  readonly version: string;
  readonly signal?: AbortSignal | undefined;
}

/** A snapshot: a list that `millwright plan --state` and kubectl read. */
export interface Snapshot {
  readonly apiVersion: "v1";
  readonly kind: "List";
  readonly items: readonly KubeObject[];
  /** What could not be read, a sentence each. */
  readonly notes: readonly string[];
}

const REDACTED = "REDACTED";

/** Names of fields whose values may be confidential: of providers, and of foreign annotations. */
const confidential =
  /user-?data|custom-?data|password|passwd|secret(?!ref|name)|token|credential(?!s?secretref)|private-?key|access-?key|kubeconfig/i;

/** Replaces the values of confidential fields; references to Secrets by name are kept. */
function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      confidential.test(key) && !/ref$/i.test(key)
        ? inner === "" || inner === null
          ? inner
          : REDACTED
        : redact(inner),
    ]),
  );
}

/** Annotations in which whole manifests are kept, with fields that nothing redacts. */
const copies: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

function withoutCopies(object: KubeObject): KubeObject {
  const { annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const kept = Object.entries(annotations).filter(([key]) => !copies.has(key));
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
}

/** A class without the values of fields of its provider that may be confidential. */
const redactClass = (object: KubeObject): KubeObject =>
  object["providerSpec"] === undefined ? object : { ...object, providerSpec: redact(object["providerSpec"]) };

/** The spec of a volume has secrets of its driver by reference only, but attributes of any kind. */
const redactVolume = (object: KubeObject): KubeObject => ({ ...object, spec: redact(object["spec"]) });

/** Which object an event is about, and its text. */
const keepEvent = (object: KubeObject): KubeObject => {
  const { metadata, involvedObject, reason, message, type, count, firstTimestamp, lastTimestamp, eventTime } = object;
  return { metadata, involvedObject, reason, message, type, count, firstTimestamp, lastTimestamp, eventTime };
};

/** An object with its name, which those of an API server have. */
const named = (object: KubeObject): KubeObject & { readonly metadata: { readonly name: string } } => ({
  ...object,
  metadata: { ...object.metadata, name: object.metadata.name ?? "" },
});

interface Kind {
  readonly type: ResourceType;
  readonly keep?: (object: KubeObject) => object;
  readonly metadataOnly?: true;
  /** A snapshot without it is still of use. */
  readonly isOptional?: true;
}

const controlKinds: readonly Kind[] = [
  { type: machineDeploymentResource },
  { type: machineSetResource },
  { type: machineResource },
  { type: machineClassResource, keep: redactClass },
  { type: eventResource, keep: keepEvent, isOptional: true },
  // The data of a Secret never leaves the API server.
  { type: secretResource, keep: ({ metadata }) => ({ metadata }), metadataOnly: true, isOptional: true },
];

const targetKinds: readonly Kind[] = [
  { type: nodeResource, keep: (object) => trimNode(named(object)) },
  { type: podResource, keep: (object) => trimPod(named(object)), isOptional: true },
  { type: podDisruptionBudgetResource, isOptional: true },
  { type: persistentVolumeClaimResource, isOptional: true },
  { type: persistentVolumeResource, keep: redactVolume, isOptional: true },
  { type: volumeAttachmentResource, isOptional: true },
];

const needs =
  "a snapshot needs to list machinedeployments, machinesets, machines, machineclasses, and nodes in the cluster that machines join";

/**
 * Reads the objects of a namespace that controllers read, for a file that can be handed on: without data of Secrets, confidential fields of classes, and what drains do not read of pods. What may not be read
 * and is not needed is left out, with a note.
 *
 * @throws ConfigError when something that is needed may not be read, or the API server is unreachable
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { control, target, namespace, now, version, signal } = options;
  const notes: string[] = [];
  const list = async (
    api: ApiClient,
    { type, keep = (object) => object, metadataOnly, isOptional }: Kind,
    scope: { readonly namespace?: string },
  ): Promise<readonly KubeObject[]> => {
    try {
      const read = { ...scope, ...(metadataOnly === undefined ? {} : { metadataOnly }), omitManagedFields: true };
      const { items } = await listAll(api, type, read, { signal });
      const { group, version: apiVersion, kind } = type;
      const of = { apiVersion: group === "" ? apiVersion : `${group}/${apiVersion}`, kind };
      return items.map((object) => ({ metadata: object.metadata, ...keep(withoutCopies(object)), ...of }));
    } catch (error) {
      if (isOptional !== true || !isForbidden(error)) throw error;
      notes.push(`${type.plural} are left out: ${error.message}`);
      return [];
    }
  };
  try {
    const lists = await Promise.all([
      ...controlKinds.map((kind) => list(control, kind, { namespace })),
      ...(target === undefined ? [] : targetKinds.map((kind) => list(target, kind, {}))),
    ]);
    const head = {
      apiVersion: "millwright.dev/v1",
      kind: snapshotKind,
      metadata: { name: namespace, namespace, creationTimestamp: now.toISOString() },
      version,
      hasTarget: target !== undefined,
    };
    return { apiVersion: "v1", kind: "List", items: [head, ...lists.flat()], notes };
  } catch (error) {
    throw explainFailure(error, needs);
  }
}
