import {
  classNamesOf,
  defaultMachineSettings,
  matchByProviderId,
  type Node,
  pickNode,
  findHold,
  recordedHold,
} from "@millwright/controllers/reports";
import { type Clock, ConfigError, type ResourceType } from "@millwright/base";
import {
  formatProblems,
  labelKeys,
  type Machine,
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  readMachine,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
  validateMachine,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  controllerRefOf,
  isNotFound,
  isTransient,
  nodeResource,
} from "@millwright/kube";
import { machineReport, type MachineReport } from "../explain/machine-report.ts";
import { type ClusterObjects, findNamed } from "../explain/cluster-objects.ts";
import { stoppedByClass } from "../explain/deletion-remedy.ts";
import { factsOfMachine } from "../explain/explain-machine.ts";
import { secretsOf } from "../explain/class-remedy.ts";
import { clockSkews } from "./clock-skews.ts";
import { explainFailure } from "./explain-failure.ts";
import { readCrd } from "./read-crd.ts";

/** Which machine, and where to read about it. */
export interface DescribeMachineOptions {
  readonly control: Pick<ApiClient, "get" | "list" | "serverTime">;
  /** The cluster that machines join; absent where there is none. */
  readonly target?: Pick<ApiClient, "get" | "list"> | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

const orUndefined = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** The owner of an object, if it has one of that kind that is there and can be read. */
async function ownerOf<T>(
  object: ApiObject,
  type: ResourceType,
  read: (raw: unknown) => ReadResult<T>,
  { control, namespace, signal }: DescribeMachineOptions,
): Promise<T | undefined> {
  const owner = controllerRefOf(object);
  if (owner === undefined || owner.kind !== type.kind) return undefined;
  const found = await orUndefined(
    control.get(type, { namespace, name: owner.name }, signal === undefined ? {} : { signal }),
  );
  const result = found === undefined || found.metadata.uid !== owner.uid ? undefined : read(found);
  return result?.ok === true ? result.value : undefined;
}

type NodeAnswer = { readonly node: Node | "missing" } | "unreachable";

/** The node of a machine: by the label of the machine, else by the label of the node. */
async function findNode(
  target: Pick<ApiClient, "get" | "list">,
  machine: Machine,
  signal: AbortSignal | undefined,
): Promise<NodeAnswer> {
  const options = signal === undefined ? {} : { signal };
  try {
    const name = machine.metadata.labels?.[labelKeys.node] ?? "";
    const named = name === "" ? undefined : await orUndefined(target.get<Node>(nodeResource, { name }, options));
    const labelSelector = `${labelKeys.machineName}=${machine.metadata.name}`;
    const { items } = await target.list<Node>(nodeResource, { ...options, labelSelector });
    const { node } = pickNode(machine, { named, byId: [], labeled: items }, matchByProviderId);
    return { node: node ?? "missing" };
  } catch (error) {
    if (signal?.aborted !== true && isTransient(error)) return "unreachable";
    throw error;
  }
}

/** What a description reads. */
const needs =
  "a description needs get on machines, machinesets, machinedeployments and machineclasses, and get and list on nodes; --target-kubeconfig=none leaves nodes out";

/**
 * Reads a machine and its related objects, and reports its state. Timeouts that the machine does not set are taken to be the defaults: what flags the
 * controllers run with cannot be seen from outside.
 *
 * @throws ConfigError when there is no such machine, or none that can be read, when something may not be read, or when the API server is unreachable
 */
export async function describeMachine(options: DescribeMachineOptions): Promise<MachineReport> {
  try {
    return await reportOf(options);
  } catch (error) {
    throw explainFailure(error, needs);
  }
}

/** The report, with what helps a deletion that its class or Secret stops: what a user can do about any deletion does not name them. */
function withDeletionRemedy(
  report: MachineReport,
  machine: Machine,
  classNamed: (name: string) => MachineClass | undefined,
): MachineReport {
  if (machine.metadata.deletionTimestamp == null || report.deletionPaused !== undefined) return report;
  // A VM is deleted with the class that it was created with.
  const className = classNamesOf(machine).at(-1) ?? "";
  const machineClass = classNamed(className);
  const [secretName = ""] = secretsOf(machineClass);
  const remedy = stoppedByClass({ report, className, hasClass: machineClass !== undefined, secretName });
  return remedy === undefined ? report : { ...report, next: { ...report.next, person: remedy.text } };
}

/**
 * Reports the state of a machine among objects that were read.
 *
 * @throws ConfigError when there is no such machine
 */
export function machineReportFrom(name: string, objects: ClusterObjects, now: Date): MachineReport {
  const machine = findNamed(objects.machines, machineResource, name, objects);
  const facts = factsOfMachine(machine, objects);
  const report = machineReport(facts, validateMachine(machine), now, recordedHold(machine, facts));
  return withDeletionRemedy(report, machine, (named) =>
    objects.classes.find(({ metadata }) => metadata.name === named),
  );
}

async function reportOf(options: DescribeMachineOptions): Promise<MachineReport> {
  const { control, target, namespace, name, clock, signal } = options;
  const asked = signal === undefined ? {} : { signal };
  const raw = await orUndefined(control.get(machineResource, { namespace, name }, asked));
  if (raw === undefined)
    throw new ConfigError(
      `there is no machine "${name}" in namespace ${namespace}; "kubectl get machines -A" lists all machines`,
    );
  const read = readMachine(raw);
  if (!read.ok) throw new ConfigError(`machine "${name}" cannot be read: ${formatProblems(read.problems)}`);
  const machine = read.value;
  const set = await ownerOf(machine, machineSetResource, readMachineSet, options);
  const [deployment, classes, found] = await Promise.all([
    set === undefined ? undefined : ownerOf(set, machineDeploymentResource, readMachineDeployment, options),
    Promise.all(
      classNamesOf(machine).map(async (each) =>
        orUndefined(control.get<ApiObject & MachineClass>(machineClassResource, { namespace, name: each }, asked)),
      ),
    ),
    target === undefined ? undefined : findNode(target, machine, signal),
  ]);
  const classNamed = (className = "") => classes.find((each) => each?.metadata.name === className);
  const facts = {
    machine,
    set,
    deployment,
    hasTarget: target !== undefined,
    isTargetReachable: found !== "unreachable",
    node: found === undefined ? "missing" : found === "unreachable" ? "unread" : found.node,
    hasClass: classNamed(machine.spec.class?.name) !== undefined,
    settings: defaultMachineSettings,
  } as const;
  const now = (control.serverTime ?? clock).now();
  const hold = await findHold(machine, facts, (crd) => readCrd(crd, options));
  const report = withDeletionRemedy(machineReport(facts, validateMachine(machine), now, hold), machine, classNamed);
  const skews = await clockSkews(options, now);
  return skews.length === 0 ? report : { ...report, clockSkews: skews };
}
