import { newMachine } from "@millwright/controllers/driver-calls";
import { type Clock, ConfigError, isRecord } from "@millwright/base";
import type { Driver, ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import {
  annotationKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
  readMachineDeployment,
  readMachineSet,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  controllerRefOf,
  ignoreNotFound,
  isBeingDeleted,
  type KubeObject,
  listAll,
  type Log,
  nodeResource,
} from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { readNamed } from "../describe/read-named.ts";
import { createClassVms } from "../drivers/class-vms.ts";

/** Which VM gets a Machine. */
export interface AdoptOptions {
  readonly control: ApiClient;
  /** The cluster of the Nodes; absent: there is none. */
  readonly target?: ApiClient;
  readonly namespace: string;
  /** A Node, the id of a VM, or the name of the Machine for which it was created. */
  readonly subject: string;
  /** Name of the MachineDeployment that gets the Machine. */
  readonly deployment: string;
  /** Writes nothing. */
  readonly isDryRun: boolean;
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The Machine that keeps a VM. */
export interface AdoptReport {
  readonly namespace: string;
  readonly isDryRun: boolean;
  readonly machine: string;
  readonly set: string;
  readonly providerId: string;
  /** Machines of the set with this one, and those that it wants. */
  readonly machines: number;
  readonly replicas: number;
}

const providerIdOf = ({ spec }: KubeObject): string =>
  isRecord(spec) && typeof spec["providerID"] === "string" ? spec["providerID"] : "";

const revisionOf = ({ metadata }: MachineSet): number => Number(metadata.annotations?.[annotationKeys.revision]) || 0;

/** The newest set of a deployment: that of its template, once a rollout has begun. */
async function setOf({ control, namespace, signal }: AdoptOptions, deployment: string, uid: string) {
  const { items } = await listAll(control, machineSetResource, { namespace, omitManagedFields: true }, { signal });
  const sets = items
    .filter((set) => controllerRefOf(set)?.uid === uid && !isBeingDeleted(set))
    .flatMap((set) => {
      const read = readMachineSet(set);
      return read.ok ? [read.value] : [];
    })
    .toSorted((a, b) => revisionOf(b) - revisionOf(a));
  const [set] = sets;
  if (set === undefined) throw new ConfigError(`MachineDeployment "${deployment}" has no MachineSet yet`);
  return set;
}

/** The listed VM that a person means. */
async function findVm({ target, namespace, subject, signal }: AdoptOptions, vms: readonly ListedMachine[]) {
  const own = vms.filter(
    ({ machineNamespace = namespace, parts = [] }) => machineNamespace === namespace && parts.length === 0,
  );
  const isMeant = ({ providerId, machineName }: ListedMachine, id: string): boolean =>
    machineName === id || providerIdKey(providerId) === providerIdKey(id);
  const byName = own.filter((vm) => isMeant(vm, subject));
  if (byName.length > 0 || target === undefined) return byName;
  const node = subject.includes("/")
    ? undefined
    : await ignoreNotFound(target.get(nodeResource, { name: subject }, { signal }));
  const id = node === undefined ? "" : providerIdOf(node);
  return id === "" ? [] : own.filter((vm) => isMeant(vm, id));
}

/** Why a VM gets no Machine; `undefined` when it may have one. */
function unmetPrecondition({ providerId }: ListedMachine, machines: readonly KubeObject[]): string | undefined {
  const holder = machines.find((machine) => providerIdKey(providerIdOf(machine)) === providerIdKey(providerId));
  if (holder === undefined) return undefined;
  const { name } = holder.metadata;
  return isBeingDeleted(holder)
    ? `VM ${providerId} is that of Machine "${name}", which is being deleted; "millwright describe machine ${name}" shows how far`
    : `VM ${providerId} is that of Machine "${name}"`;
}

/** The Machine as it is created. Its name is that of the VM, unless another Machine has it. */
function machineFor(set: MachineSet, vm: ListedMachine, machines: readonly KubeObject[]): Machine {
  const names = new Set(machines.map(({ metadata }) => metadata.name));
  let name = vm.machineName;
  while (names.has(name)) name = `${name}-r`;
  const machine = newMachine(set, name);
  const marks = name === vm.machineName ? {} : { [annotationKeys.vmName]: vm.machineName };
  return {
    ...machine,
    metadata: { ...machine.metadata, annotations: { ...machine.metadata.annotations, ...marks } },
    spec: { ...machine.spec, providerID: vm.providerId },
  };
}

async function adopt(options: AdoptOptions): Promise<AdoptReport> {
  const { control, namespace, subject, deployment: name, isDryRun, signal } = options;
  const deployment = await readNamed(
    { control, namespace, name, signal },
    machineDeploymentResource,
    readMachineDeployment,
  );
  if (isBeingDeleted(deployment)) throw new ConfigError(`MachineDeployment "${name}" is being deleted`);
  const set = await setOf(options, name, deployment.metadata.uid ?? "");
  const className = set.spec.template?.spec?.class?.name ?? "";
  const needs = "an adoption needs to get machineclasses and their secrets";
  const remedy = "without the list, create the Machine by a manifest with spec.providerID";
  const vms = await createClassVms({ ...options, needs, remedy })(className);
  const found = await findVm(options, vms);
  const [vm] = found;
  if (vm === undefined)
    throw new ConfigError(
      `MachineClass "${className}" of MachineDeployment "${name}" lists no VM of "${subject}"; "millwright describe class ${className}" shows those without Machine`,
    );
  if (found.length > 1)
    throw new ConfigError(
      `"${subject}" has several VMs: ${found.map(({ providerId }) => providerId).join(", ")}; name one of them`,
    );
  const machines = (await listAll(control, machineResource, { namespace, omitManagedFields: true }, { signal })).items;
  const problem = unmetPrecondition(vm, machines);
  if (problem !== undefined) throw new ConfigError(problem);
  const machine = machineFor(set, vm, machines);
  if (!isDryRun) await control.create(machineResource, machine, { signal });
  const members = machines.filter((each) => controllerRefOf(each)?.uid === set.metadata.uid && !isBeingDeleted(each));
  return {
    namespace,
    isDryRun,
    machine: machine.metadata.name,
    set: set.metadata.name,
    providerId: vm.providerId,
    machines: members.length + 1,
    replicas: set.spec.replicas ?? 0,
  };
}

/**
 * Creates the Machine that keeps a VM without Machine.
 *
 * @throws ConfigError with the reason when it cannot
 */
export async function adoptVm(options: AdoptOptions): Promise<AdoptReport> {
  try {
    return await adopt(options);
  } catch (error) {
    throw explainFailure(
      error,
      "an adoption needs to get machinedeployments and nodes, to list machinesets, and to list and create machines",
    );
  }
}
