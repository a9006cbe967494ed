import type { ListedMachine } from "@millwright/core";
import {
  eventReasons,
  type Machine,
  type MachineClass,
  machineResource,
  nodeConditionTypes,
  readMachine,
} from "@millwright/core/machine-api";
import { type EventRecord, ignoreNotFound, listAll } from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { CallOutcome, ClassCall, MachineDriver } from "../model/driver-port.ts";
import { conditionOf } from "../model/node-condition.ts";
import type { Node } from "../model/node-objects.ts";
import { isPending } from "../model/operation.ts";
import type { VmList, VmLists } from "../vm-lists/vm-lists.ts";
import { createDeletionRates, defaultDeletionRate } from "./deletion-rate.ts";
import { findDoubt, isMuchShorter, type MachineListFacts } from "./find-doubt.ts";
import { findOrphans } from "./find-orphans.ts";
import { absentNodeWithPods } from "./absent-nodes.ts";
import { machineOfVm, nodesOfVm } from "./nodes-of-vm.ts";
import { observeMachineList } from "./observe-machine-list.ts";
import type { OrphanDrains } from "./orphan-drains.ts";
import type { Quarantine, QuarantinedVm } from "./quarantine.ts";

/**
 * The VMs that have no machine in a list of all machines from the API server, for which the cache may be wrong; none if the list is much shorter than the cache, or has a machine that cannot be read.
 *
 * @throws ApiError when the API server does not respond
 */
async function stillWithoutMachine(
  vms: readonly ListedMachine[],
  { control, namespace, caches }: Pick<ControllerContext, "control" | "namespace" | "caches">,
  listed: readonly ListedMachine[],
  signal: AbortSignal,
): Promise<readonly ListedMachine[]> {
  const { items } = await listAll(control, machineResource, { namespace, omitManagedFields: true }, { signal });
  const machines = items.map((item) => readMachine(item));
  const read = machines.flatMap((result): readonly Machine[] => (result.ok ? [result.value] : []));
  if (read.length < machines.length || isMuchShorter(read.length, caches.machines.store.list(namespace).length))
    return [];
  return findOrphans(vms, read, namespace, listed);
}

/**
 * Whether the Machine that the VM names does not own it, or does not exist: read by itself, for a list may be incomplete.
 *
 * @throws ApiError when the API server does not respond
 */
async function hasNoMachine(
  vm: ListedMachine,
  { control, namespace }: Pick<ControllerContext, "control" | "namespace">,
  listed: readonly ListedMachine[],
  signal: AbortSignal,
): Promise<boolean> {
  const ref = { namespace, name: vm.machineName };
  const item = await ignoreNotFound(control.get(machineResource, ref, { signal }));
  if (item === undefined) return true;
  const found = readMachine(item);
  return found.ok && findOrphans([vm], [found.value], namespace, listed).length > 0;
}

/** Deletes a VM through its driver, as that of a machine with the name and UID of the VM (MCM, `pkg/util/provider/machinecontroller/machine_safety.go` deleteOrphanVM). */
function deleteOrphan(
  vm: ListedMachine,
  { machineClass, secret }: ClassCall,
  driver: Pick<MachineDriver, "deleteVm">,
  signal: AbortSignal,
): Promise<CallOutcome> {
  return driver.deleteVm({ machine: machineOfVm(vm, machineClass.metadata), machineClass, secret }, signal);
}

/** Whether there is the machine that a VM was created for. */
export const hasMachine = (
  { machineName, machineUid }: ListedMachine,
  { machines }: Pick<ControlCaches, "machines">,
): boolean =>
  machines.store
    .list()
    .some(({ metadata }) => (machineUid === undefined ? metadata.name === machineName : metadata.uid === machineUid));

/** Reports on a class, and in the log. */
export type ReportOnClass = (machineClass: MachineClass, event: EventRecord) => void;

/** VMs of a class whose quarantine is over. */
export interface DueVms {
  readonly due: readonly ListedMachine[];
  /** As it is recorded on the class. */
  readonly quarantine: Quarantine;
  readonly list: VmList;
  /** What was known of the machines when the list was read. */
  readonly facts: MachineListFacts;
}

/** Stores a change of a VM in quarantine on its class. */
export type RecordVm = (
  machineClass: MachineClass,
  providerId: string,
  change: Pick<QuarantinedVm, "draining" | "nodes" | "deleted">,
) => Promise<void>;

/** Deletes VMs without machine. */
export interface OrphanDeleter {
  /**
   * Deletes VMs whose quarantine is over, after their Nodes were drained: each only while nothing is in doubt, if the API server has no machine for it, and within the rate. Failures are reported, and repeated
   * with the next list.
   *
   * @throws ApiError when the API server does not respond
   */
  deleteDue(vms: DueVms, signal: AbortSignal): Promise<void>;
  /** The class is deleted. */
  forget(uid: string): void;
}

/** What the deleter of a process works with. */
export interface OrphanDeleterOptions {
  readonly driver: Pick<MachineDriver, "deleteVm">;
  readonly lists: Pick<VmLists, "request">;
  readonly drains: Pick<OrphanDrains, "allow" | "stateOf">;
  readonly report: ReportOnClass;
  readonly record: RecordVm;
  /** Milliseconds. */
  readonly drainTimeoutMs: () => number;
}

const isDraining = ({ vms }: Quarantine, { providerId }: ListedMachine): boolean =>
  vms.get(providerId)?.draining !== undefined;

/** What the answer of a driver means: `running` is a Node that shows that the VM exists, although the driver did not find it. A list of another account lacks it as well. */
function answerOf(
  outcome: CallOutcome,
  nodes: readonly Node[],
): { readonly isDeleted: boolean; readonly running?: Node | undefined } {
  const isMissing = outcome.ok
    ? "isMissing" in outcome.value && outcome.value.isMissing
    : outcome.error.code === "NotFound" && nodes.length > 0;
  const running = nodes.find((node) => conditionOf(node, nodeConditionTypes.ready)?.status === "True");
  return isMissing ? { isDeleted: running === undefined, running } : { isDeleted: outcome.ok };
}

/** Deletes a VM whose Nodes are drained. */
async function deleteVm(
  vm: ListedMachine,
  nodes: readonly Node[],
  { list }: DueVms,
  { caches, clock }: Pick<ControllerContext, "caches" | "clock">,
  { driver, lists, report, record }: OrphanDeleterOptions,
  signal: AbortSignal,
): Promise<void> {
  const { machineClass } = list;
  const thing = vm.parts === undefined ? "VM" : `${vm.parts.join(", ")} of VM`;
  const because = hasMachine(vm, caches) ? "which names another VM" : "which does not exist";
  const what = `${thing} ${vm.providerId} of Machine ${vm.machineName}, ${because}`;
  const notDeleted = (message: string): void =>
    report(machineClass, { type: "Warning", reason: eventReasons.orphanVmNotDeleted, message });
  const outcome = await deleteOrphan(vm, list, driver, signal);
  if (signal.aborted) return;
  if (outcome.ok && isPending(outcome.value)) return lists.request(machineClass, outcome.value.pending.checkAfterMs);
  const { isDeleted, running } = answerOf(outcome, nodes);
  if (running !== undefined)
    return notDeleted(
      `The driver did not find ${what}, but its Node ${running.metadata.name} is Ready. Check credentials`,
    );
  if (!isDeleted && !outcome.ok)
    return notDeleted(`Failed to delete ${what}: ${outcome.error.code}: ${outcome.error.message}`);
  if (nodes.length > 0) await record(machineClass, vm.providerId, { deleted: clock.now().getTime() });
  report(machineClass, { type: "Normal", reason: eventReasons.orphanVmDeleted, message: `Deleted ${what}` });
  lists.request(machineClass, 0);
}

/** Begins the drain of a VM's Nodes, which the controller of Nodes carries out. */
async function beginDrain(
  vm: ListedMachine,
  nodes: readonly Node[],
  { list, quarantine }: DueVms,
  { clock }: Pick<ControllerContext, "clock">,
  { report, record }: OrphanDeleterOptions,
): Promise<void> {
  if (isDraining(quarantine, vm)) return;
  const names = nodes.map(({ metadata }) => metadata.name);
  await record(list.machineClass, vm.providerId, { draining: clock.now().getTime(), nodes: names });
  const message = `Node ${names.join(", ")} is drained before its VM ${vm.providerId} is deleted, which has no Machine`;
  report(list.machineClass, { type: "Normal", reason: eventReasons.orphanVmDraining, message });
}

/** Makes the deleter of a process. */
export function createOrphanDeleter(context: ControllerContext, options: OrphanDeleterOptions): OrphanDeleter {
  const { clock, deletionBudget } = context;
  const { drains, report } = options;
  const rates = createDeletionRates(clock, (className) => deletionBudget?.enterOrphanVm(className) !== false);

  /** What follows for a VM that may be deleted. */
  const advance = async (vm: ListedMachine, vms: DueVms, signal: AbortSignal): Promise<void> => {
    const { machineClass } = vms.list;
    const nodes = nodesOfVm(vm, machineClass.metadata.name, context);
    const state = drains.stateOf(vm, nodes);
    if (state === "draining") return beginDrain(vm, nodes, vms, context, options);
    const absent = absentNodeWithPods(vms.quarantine.vms.get(vm.providerId), context, options.drainTimeoutMs());
    if (absent !== undefined) {
      const message = `VM ${vm.providerId} is not deleted yet: its Node ${absent} does not exist, and pods are bound to it`;
      report(machineClass, { type: "Warning", reason: eventReasons.orphanVmNotDeleted, message });
      return options.lists.request(machineClass, 0);
    }
    if (state !== "unread") return deleteVm(vm, nodes, vms, context, options, signal);
    const message = `VM ${vm.providerId} is not deleted: its Node cannot be drained, the API server of the Nodes is unreachable. Make it reachable, or run without a target cluster`;
    report(machineClass, { type: "Warning", reason: eventReasons.orphanVmNotDeleted, message });
  };

  return {
    async deleteDue(vms, signal) {
      const { due, quarantine, list, facts } = vms;
      const { metadata } = list.machineClass;
      const allowed: ListedMachine[] = [];
      const orphans = due.length === 0 ? [] : await stillWithoutMachine(due, context, list.vms, signal);
      // Drains that have begun are the first to end.
      const begun = orphans.filter((vm) => isDraining(quarantine, vm));
      for (const vm of [...begun, ...orphans.filter((each) => !begun.includes(each))]) {
        if (!(await hasNoMachine(vm, context, list.vms, signal))) continue;
        if (signal.aborted) return;
        if (findDoubt(observeMachineList(context), facts) !== undefined) return drains.allow(metadata.name, [], facts);
        if (allowed.length >= defaultDeletionRate.burst || !rates.enter(metadata, vm)) break;
        allowed.push(vm);
        await advance(vm, vms, signal);
      }
      drains.allow(metadata.name, allowed, facts);
    },
    forget: rates.forget,
  };
}
