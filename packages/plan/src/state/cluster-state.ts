import type { Budget, Claim, Node, Pod, Volume, VolumeAttachment } from "@millwright/controllers";
import type { ResourceType } from "@millwright/base";
import {
  formatProblems,
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineEventReasons,
  machineResource,
  machineSetResource,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  eventResource,
  listAll,
  messageOf,
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { type DrainLists, explainFailure } from "@millwright/runtime/reports";
import type { PreviewObjects } from "../simulation/model-cluster.ts";

/** The state that a plan starts from. */
export interface ClusterState extends PreviewObjects {
  readonly namespace: string;
  readonly classes: readonly MachineClass[];
  /** Reads the objects that drains depend on, when they are needed. */
  readonly drainLists: () => Promise<DrainLists>;
  /** Objects that cannot be read and are left out, a sentence each. */
  readonly notes: readonly string[];
  /** When the objects were read, for those of a snapshot. */
  readonly takenAt?: Date;
}

/** How a live cluster is read. */
export interface ReadStateOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent where there is none. */
  readonly target?: ApiClient;
  readonly namespace: string;
  /** Whether to read events, from which the duration of deletions is estimated. Default true. */
  readonly wantsEvents?: boolean;
  readonly signal?: AbortSignal;
}

/** An object of a file, and its place in it. */
export interface ManifestObject {
  /** File and number of the document, for messages. */
  readonly source: string;
  readonly object: ApiObject;
  /** Where the field at a path is, or the nearest field around it; undefined where the text does not show it. */
  readonly locate?: (path: string) => Location | undefined;
}

/** A line of a file; the first is 1. */
export interface Location {
  readonly file: string;
  readonly line: number;
}

/** Reads a list. Objects that cannot be read are left out, with a note. */
function readAll<T>(
  raws: readonly ApiObject[],
  kind: string,
  read: (raw: unknown) => ReadResult<T>,
  notes: string[],
): readonly T[] {
  return raws.flatMap((raw) => {
    const result = read(raw);
    if (result.ok) return [result.value];
    notes.push(
      `${kind} "${raw.metadata.name ?? ""}" cannot be read and is left out: ${formatProblems(result.problems)}`,
    );
    return [];
  });
}

/** What a plan lists. */
const needs =
  "a plan needs to list machinedeployments, machinesets, machines and machineclasses, and in the cluster of the nodes nodes, pods, poddisruptionbudgets, persistentvolumeclaims, persistentvolumes and volumeattachments";

/** Maximum number of events: a median needs no more. */
const MAX_EVENTS = 1_000;

/** The events from which the duration of deletions is estimated. Only a time in the plan depends on them, so a failure is a note. */
async function readEvents(
  { control, namespace, wantsEvents = true, signal }: ReadStateOptions,
  notes: string[],
): Promise<readonly ApiObject[]> {
  if (!wantsEvents) return [];
  const fieldSelector = `involvedObject.kind=Machine,reason=${machineEventReasons.deleting}`;
  const scope = { namespace, fieldSelector, limit: MAX_EVENTS, omitManagedFields: true };
  try {
    return (await control.list<ApiObject>(eventResource, scope, signal === undefined ? {} : { signal })).items;
  } catch (error) {
    const why = explainFailure(error, "allow to list events");
    notes.push(`Cannot estimate how long drains and deletions take, because events cannot be read: ${messageOf(why)}`);
    return [];
  }
}

/**
 * Reads the objects of a live cluster. Reads only.
 *
 * @throws ConfigError when something may not be read, or the API server is unreachable
 */
export async function readClusterState(options: ReadStateOptions): Promise<ClusterState> {
  const { control, target, namespace, signal } = options;
  const call = signal === undefined ? {} : { signal };
  const list = async <T extends ApiObject>(
    api: ApiClient,
    type: ResourceType,
    scope: { readonly namespace?: string } = {},
  ): Promise<readonly T[]> => {
    try {
      return (await listAll<T>(api, type, { ...scope, omitManagedFields: true }, call)).items;
    } catch (error) {
      throw explainFailure(error, needs);
    }
  };
  const notes: string[] = [];
  const [deployments, sets, machines, classes, nodes, events] = await Promise.all([
    list(control, machineDeploymentResource, { namespace }),
    list(control, machineSetResource, { namespace }),
    list(control, machineResource, { namespace }),
    list(control, machineClassResource, { namespace }),
    target === undefined ? undefined : list<Node>(target, nodeResource),
    readEvents(options, notes),
  ]);
  return {
    namespace,
    deployments: readAll(deployments, "MachineDeployment", readMachineDeployment, notes),
    sets: readAll(sets, "MachineSet", readMachineSet, notes),
    machines: readAll(machines, "Machine", readMachine, notes),
    classes: readAll(classes, "MachineClass", readMachineClass, notes),
    ...(nodes === undefined ? {} : { nodes }),
    events,
    notes,
    drainLists: async () => {
      if (target === undefined) return noLists;
      const [pods, budgets, claims, volumes, attachments] = await Promise.all([
        list<Pod>(target, podResource),
        list<Budget>(target, podDisruptionBudgetResource),
        list<Claim>(target, persistentVolumeClaimResource),
        list<Volume>(target, persistentVolumeResource),
        list<VolumeAttachment>(target, volumeAttachmentResource),
      ]);
      return { pods, budgets, claims, volumes, attachments };
    },
  };
}

/** Whether a snapshot was taken where machines join no cluster. */
const isWithoutTarget = (head: object | undefined): boolean =>
  head !== undefined && "hasTarget" in head && head.hasTarget === false;

/** Kind of the object in a snapshot that has its time; no API server serves it. */
export const snapshotKind = "MillwrightSnapshot";

const noLists: DrainLists = { pods: [], budgets: [], claims: [], volumes: [], attachments: [] };

/** The fields that an API server would add to a hand-written manifest. */
export const asCreated = (
  kind: string,
  name: string,
): { readonly uid: string; readonly creationTimestamp: string } => ({
  uid: `preview-${kind}-${name}`,
  creationTimestamp: new Date(0).toISOString(),
});

/**
 * Takes the state from objects in files, as `kubectl get -o yaml` writes them. Objects of other kinds are skipped, and so are machine objects
 * of other namespaces.
 *
 * @param namespace absent: that of the first machine object that names one, else `default`
 */
export function stateOfManifests(
  manifests: readonly ManifestObject[],
  namespace: string | undefined,
  hasTarget: boolean,
): ClusterState {
  const ofKind = (kind: string): readonly ApiObject[] =>
    manifests.map(({ object }) => object).filter((object) => object.kind === kind);
  const ours = ["MachineDeployment", "MachineSet", "Machine", "MachineClass"].flatMap(ofKind);
  const wanted =
    namespace ?? ours.find(({ metadata }) => metadata.namespace !== undefined)?.metadata.namespace ?? "default";
  const here = (kind: string): readonly ApiObject[] =>
    ofKind(kind)
      .filter(({ metadata }) => (metadata.namespace ?? wanted) === wanted)
      .map((object) => ({
        ...object,
        metadata: { ...asCreated(kind, object.metadata.name ?? ""), namespace: wanted, ...object.metadata },
      }));
  // All fields of core Kubernetes objects may be missing, except names.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the claim is the caller's
  const foreign = <T extends ApiObject>(kind: string): readonly T[] =>
    ofKind(kind).filter((object): object is T => object.metadata.name !== undefined);
  const notes: string[] = [];
  const [head] = ofKind(snapshotKind);
  const takenAt = Date.parse(head?.metadata.creationTimestamp ?? "");
  return {
    namespace: wanted,
    ...(Number.isNaN(takenAt) ? {} : { takenAt: new Date(takenAt) }),
    deployments: readAll(here("MachineDeployment"), "MachineDeployment", readMachineDeployment, notes),
    sets: readAll(here("MachineSet"), "MachineSet", readMachineSet, notes),
    machines: readAll(here("Machine"), "Machine", readMachine, notes),
    classes: readAll(here("MachineClass"), "MachineClass", readMachineClass, notes),
    ...(hasTarget && !isWithoutTarget(head) ? { nodes: foreign<Node>("Node") } : {}),
    events: here("Event"),
    notes,
    drainLists: () =>
      Promise.resolve({
        pods: foreign<Pod>("Pod"),
        budgets: foreign<Budget>("PodDisruptionBudget"),
        claims: foreign<Claim>("PersistentVolumeClaim"),
        volumes: foreign<Volume>("PersistentVolume"),
        attachments: foreign<VolumeAttachment>("VolumeAttachment"),
      }),
  };
}
