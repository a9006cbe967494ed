import type { Node } from "@millwright/controllers/reports";
import type { ResourceType } from "@millwright/base";
import {
  formatProblems,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, isForbidden, isTransient, listAll, nodeResource } from "@millwright/kube";
import type { ClusterObjects } from "../explain/cluster-objects.ts";
import { explainFailure } from "./explain-failure.ts";
import { readCrd } from "./read-crd.ts";
import { readDrainSources } from "./read-drain-sources.ts";

/** Where objects are read. */
export interface ReadObjectsOptions {
  /** The cluster in which machines are declared. */
  readonly control: Pick<ApiClient, "get" | "list" | "serverTime">;
  /** The cluster that machines join; absent where there is none. */
  readonly target?: Pick<ApiClient, "get" | "list"> | undefined;
  readonly namespace: string;
  readonly signal?: AbortSignal | undefined;
}

const needs =
  "a description needs to list machinedeployments, machinesets, machines and machineclasses, and nodes in the cluster that machines join; --target-kubeconfig=none leaves nodes out";

/** Nodes, as far as they can be read: what is known of machines is worth a report without them. */
async function readNodes(
  { target, signal }: ReadObjectsOptions,
  notes: string[],
): Promise<readonly Node[] | "unreachable" | "unread" | undefined> {
  if (target === undefined) return undefined;
  try {
    return (await listAll<Node>(target, nodeResource, { omitManagedFields: true }, { signal })).items;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    if (isForbidden(error)) notes.push(`Nodes cannot be read: ${error.message}`);
    else if (isTransient(error)) notes.push("The API server of the nodes is unreachable");
    else throw error;
    return isForbidden(error) ? "unread" : "unreachable";
  }
}

/**
 * Reads the objects of a namespace that explanations are computed from. Objects that cannot be read are left out, with a note.
 *
 * @throws ConfigError when something may not be read, or the API server is unreachable
 */
export async function readClusterObjects(options: ReadObjectsOptions): Promise<ClusterObjects> {
  const { control, target, namespace, signal } = options;
  const notes: string[] = [];
  const list = async <T>(type: ResourceType, read: (raw: unknown) => ReadResult<T>): Promise<readonly T[]> => {
    const { items } = await listAll<ApiObject>(control, type, { namespace, omitManagedFields: true }, { signal });
    return items.flatMap((raw) => {
      const result = read(raw);
      if (result.ok) return [result.value];
      notes.push(`${type.kind} "${raw.metadata.name ?? ""}" cannot be read: ${formatProblems(result.problems)}`);
      return [];
    });
  };
  try {
    const [deployments, sets, machines, classes, nodes] = await Promise.all([
      list(machineDeploymentResource, readMachineDeployment),
      list(machineSetResource, readMachineSet),
      list(machineResource, readMachine),
      list(machineClassResource, readMachineClass),
      readNodes(options, notes),
    ]);
    const crds = new Map<string, ReturnType<typeof readCrd>>();
    return {
      namespace,
      deployments,
      sets,
      machines,
      classes,
      ...(nodes === undefined ? {} : { nodes }),
      notes,
      // All terminating machines of the namespace depend on the same CRDs.
      readCrd: async (name) => {
        try {
          const found = crds.get(name) ?? readCrd(name, options);
          crds.set(name, found);
          return await found;
        } catch (error) {
          throw explainFailure(error, needs);
        }
      },
      // Loaded only where something is not as desired.
      readLeaders: async (now) => (await import("./read-leaders.ts")).readLeaders(control, namespace, now, signal),
      readNamespaceDeletion: async () =>
        (await import("./read-leaders.ts")).readNamespaceDeletion(control, namespace, signal),
      readRefusedWrites: async (now) =>
        (await import("./read-refused-writes.ts")).readRefusedWrites(control, namespace, now, signal),
      readListFailures: async (now) =>
        (await import("./read-refused-writes.ts")).readListFailures(control, namespace, now, signal),
      drainSources: async (nodeName) => {
        try {
          return await readDrainSources(target ?? control, nodeName, signal);
        } catch (error) {
          throw explainFailure(error, "what blocks a drain is read from pods, their budgets and their volumes");
        }
      },
    };
  } catch (error) {
    throw explainFailure(error, needs);
  }
}
