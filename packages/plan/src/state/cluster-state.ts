import type { Budget, Claim, Node, Pod, Volume, VolumeAttachment } from "@millwright/controllers";
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
  type ResourceType,
} from "@millwright/core";
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
import { type DrainLists, explainFailure } from "@millwright/runtime";
import type { PreviewObjects } from "../simulation/model-cluster.ts";

/** What a plan begins with. */
export interface ClusterState extends PreviewObjects {
  readonly namespace: string;
  readonly classes: readonly MachineClass[];
  /** Reads what drains look at, once it is needed. */
  readonly drainLists: () => Promise<DrainLists>;
  /** What of it could not be read, and is left out. */
  readonly notes: readonly string[];
}

/** Where a live cluster is read. */
export interface ReadStateOptions {
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** The cluster that machines join; absent where there is none. */
  readonly target?: ApiClient;
  readonly namespace: string;
  /** Whether to look for events that tell how long deletions took. Default true. */
  readonly wantsEvents?: boolean;
  readonly signal?: AbortSignal;
}

/** An object of a file, and where it stands. */
export interface ManifestObject {
  /** File and number of the document, for messages. */
  readonly source: string;
  readonly object: ApiObject;
}

/** Reads a list, leaving out what has not the shape of its kind, and saying so. */
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

/** What a plan reads. */
const needs =
  "a plan needs to list machinedeployments, machinesets, machines and machineclasses, and in the cluster of the nodes nodes, pods, poddisruptionbudgets, persistentvolumeclaims, persistentvolumes and volumeattachments";

/** Events that are read at most: a middle needs no more. */
const MOST_EVENTS = 1_000;

/** The events that tell how long deletions took. Nothing but a time in the plan hangs on them, so a failure is a note. */
async function readEvents(
  { control, namespace, wantsEvents = true, signal }: ReadStateOptions,
  notes: string[],
): Promise<readonly ApiObject[]> {
  if (!wantsEvents) return [];
  const fieldSelector = `involvedObject.kind=Machine,reason=${machineEventReasons.deleting}`;
  const scope = { namespace, fieldSelector, limit: MOST_EVENTS, omitManagedFields: true };
  try {
    return (await control.list<ApiObject>(eventResource, scope, signal === undefined ? {} : { signal })).items;
  } catch (error) {
    const why = explainFailure(error, "allow to list events");
    notes.push(`Events cannot be read, which tell how long drains and deletions took: ${messageOf(why)}`);
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

const noLists: DrainLists = { pods: [], budgets: [], claims: [], volumes: [], attachments: [] };

/** What an API server gives to an object, for one that has never been there: a manifest that people wrote. */
export const asCreated = (
  kind: string,
  name: string,
): { readonly uid: string; readonly creationTimestamp: string } => ({
  uid: `preview-${kind}-${name}`,
  creationTimestamp: new Date(0).toISOString(),
});

/**
 * Takes the state from objects that were written into files, as `kubectl get -o yaml` writes them. Objects of other kinds are passed over; machine objects
 * of other namespaces are, too.
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
  // Of objects of Kubernetes all fields that are looked at may be missing; only names are relied on.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the claim is the caller's
  const foreign = <T extends ApiObject>(kind: string): readonly T[] =>
    ofKind(kind).filter((object): object is T => object.metadata.name !== undefined);
  const notes: string[] = [];
  return {
    namespace: wanted,
    deployments: readAll(here("MachineDeployment"), "MachineDeployment", readMachineDeployment, notes),
    sets: readAll(here("MachineSet"), "MachineSet", readMachineSet, notes),
    machines: readAll(here("Machine"), "Machine", readMachine, notes),
    classes: readAll(here("MachineClass"), "MachineClass", readMachineClass, notes),
    ...(hasTarget ? { nodes: foreign<Node>("Node") } : {}),
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
