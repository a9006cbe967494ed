import { drainRulesOf, type Node, observeDrain } from "@millwright/controllers/reports";
import { type Clock, ConfigError } from "@millwright/base";
import {
  type DrainRule,
  type Machine,
  type MachineClass,
  machineClassResource,
  machineResource,
  readMachine,
  readMachineClass,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  type CallOptions,
  ignoreNotFound,
  listAll,
  nodeResource,
} from "@millwright/kube";
import { type DrainPreview, previewDeletionDrain } from "../explain/simulate-drain.ts";
import { machineOfNode } from "../explain/cluster-objects.ts";
import { explainFailure, isUnservedKind } from "./explain-failure.ts";
import { readDrainSources } from "./read-drain-sources.ts";

/** Which node, and where to read about it. */
export interface PreviewDrainOptions {
  /** The cluster of the node. */
  readonly target: ApiClient;
  /** The cluster in which machines are declared. */
  readonly control: ApiClient;
  /** Namespace of the machines. Default: all. */
  readonly namespace?: string;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** What a drain of a node would do, and under which terms. */
export interface NodeDrainPreview extends DrainPreview {
  readonly node: string;
  readonly isCordoned: boolean;
  /** The machine of the node; absent where no machine in the namespace has it. */
  readonly machine?: { readonly namespace: string; readonly name: string; readonly isBeingDeleted: boolean };
  /** Rules of the ordered drain that hold. */
  readonly rules: readonly DrainRule[];
  /** Why rules are ignored, as one sentence. */
  readonly problem?: string;
  /** RFC 3339: when the drain began, or now. */
  readonly startedAt: string;
  /** RFC 3339: from then on pods are deleted past their budgets. */
  readonly evictUntil: string;
  /** RFC 3339: from then on the rest is deleted without a grace period. */
  readonly deadline: string;
}

/** The machine whose node it is: its VM's, then the one that the node names, then the one that names the node. */
async function machineOf(
  node: Node,
  { control, namespace, signal }: PreviewDrainOptions,
): Promise<Machine | undefined> {
  const call = signal === undefined ? {} : { signal };
  const machines = (await listMachines(control, namespace, call)).flatMap((raw) => {
    const read = readMachine(raw);
    return read.ok ? [read.value] : [];
  });
  return machineOfNode(node, machines);
}

/** The class of a machine, if it is there and can be read. */
async function classOf(machine: Machine, { control, signal }: PreviewDrainOptions): Promise<MachineClass | undefined> {
  const name = machine.spec.class?.name ?? "";
  const { namespace } = machine.metadata;
  if (name === "") return undefined;
  const call = signal === undefined ? {} : { signal };
  const read = readMachineClass(await ignoreNotFound(control.get(machineClassResource, { namespace, name }, call)));
  return read.ok ? read.value : undefined;
}

/** What a dry run reads. */
const needs =
  "a dry run needs get and list on nodes, pods, poddisruptionbudgets, persistentvolumeclaims, persistentvolumes, volumeattachments, machines and machineclasses";

/** Machines of a cluster; one without our kinds has none. */
async function listMachines(
  control: ApiClient,
  namespace: string | undefined,
  call: CallOptions,
): Promise<readonly ApiObject[]> {
  try {
    const scope = namespace === undefined ? {} : { namespace };
    return (await listAll<ApiObject>(control, machineResource, scope, call)).items;
  } catch (error) {
    if (isUnservedKind(error)) return [];
    throw error;
  }
}

/**
 * Reports what a drain of a node would do, with the functions of real drains. Reads only. Timeouts that the machine does not set are taken to be the defaults: what flags the
 * controllers run with cannot be seen from outside.
 *
 * @throws ConfigError when there is no such node, when something may not be read, or when the API server is unreachable
 */
export async function previewDrain(options: PreviewDrainOptions): Promise<NodeDrainPreview> {
  const { target, nodeName, clock, signal } = options;
  try {
    const call = signal === undefined ? {} : { signal };
    const node = await ignoreNotFound(target.get<Node>(nodeResource, { name: nodeName }, call));
    if (node === undefined)
      throw new ConfigError(`there is no node "${nodeName}"; "kubectl get nodes" lists all nodes`);
    const machine = await machineOf(node, options);
    const [machineClass, sources] = await Promise.all([
      machine === undefined ? undefined : classOf(machine, options),
      readDrainSources(target, nodeName, signal),
    ]);
    const { rules, ...ignored } =
      machine === undefined ? { rules: [] } : drainRulesOf(machine.metadata, machineClass?.metadata);
    const now = (options.control.serverTime ?? clock).now();
    const { terms, preview } = previewDeletionDrain(machine, observeDrain(node, machine, rules, sources), now);
    const timeOf = (ms: number): string => new Date(ms).toISOString();
    return {
      node: nodeName,
      isCordoned: node.spec?.unschedulable === true,
      ...(machine === undefined
        ? {}
        : {
            machine: {
              namespace: machine.metadata.namespace ?? "",
              name: machine.metadata.name,
              isBeingDeleted: machine.metadata.deletionTimestamp != null,
            },
          }),
      rules,
      ...ignored,
      startedAt: timeOf(terms.startedAt),
      evictUntil: timeOf(terms.evictUntil),
      deadline: timeOf(terms.deadline),
      ...preview,
    };
  } catch (error) {
    throw explainFailure(error, needs);
  }
}
