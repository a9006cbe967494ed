import {
  eventReasons,
  type ListedMachine,
  type Machine,
  type MachineClass,
  machineResource,
  readMachine,
} from "@millwright/core";
import { type EventRecord, ignoreNotFound, listAll } from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { CallOutcome, ClassCall, MachineDriver } from "../model/driver-port.ts";
import { isPending } from "../model/operation.ts";
import type { VmList, VmLists } from "../vm-lists/vm-lists.ts";
import { defaultDeletionRate, mayDelete } from "./deletion-rate.ts";
import { findDoubt, isMuchShorter, type MachineListFacts } from "./find-doubt.ts";
import { findOrphans } from "./find-orphans.ts";
import { observeMachineList } from "./observe-machine-list.ts";

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
  { providerId, machineName, machineUid = "" }: ListedMachine,
  { machineClass, secret }: ClassCall,
  driver: Pick<MachineDriver, "deleteVm">,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { name, namespace = "" } = machineClass.metadata;
  const machine: Machine = {
    metadata: { name: machineName, namespace, uid: machineUid },
    spec: { providerID: providerId, class: { kind: "MachineClass", name } },
  };
  return driver.deleteVm({ machine, machineClass, secret }, signal);
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

/** Deletes VMs without machine. */
export interface OrphanDeleter {
  /**
   * Deletes VMs whose quarantine is over: each only while nothing is in doubt, if the API server has no machine for it, and within the rate. Failures are reported, and repeated with the next list.
   *
   * @throws ApiError when the API server does not respond
   */
  deleteDue(due: readonly ListedMachine[], list: VmList, facts: MachineListFacts, signal: AbortSignal): Promise<void>;
  /** The class is deleted. */
  forget(uid: string): void;
}

/** The deletions of a class. */
interface Deletions {
  /** Monotonic clock, oldest first. */
  readonly times: number[];
  /** VMs that were counted: the deletion of one may take several calls. */
  readonly vms: Set<string>;
}

/** Makes the deleter of a process. */
export function createOrphanDeleter(
  context: ControllerContext,
  driver: Pick<MachineDriver, "deleteVm">,
  lists: Pick<VmLists, "request">,
  report: ReportOnClass,
): OrphanDeleter {
  const { caches, clock, deletionBudget } = context;
  const byClass = new Map<string, Deletions>();

  const isWithinRate = ({ name, uid = "" }: MachineClass["metadata"], { providerId }: ListedMachine): boolean => {
    const deletions: Deletions = byClass.get(uid) ?? { times: [], vms: new Set() };
    byClass.set(uid, deletions);
    if (deletions.vms.has(providerId)) return true;
    const nowMs = clock.monotonicMs();
    if (!mayDelete({ deletions: deletions.times, rate: defaultDeletionRate, nowMs })) return false;
    if (deletionBudget?.enterOrphanVm(name) === false) return false;
    deletions.times.push(nowMs);
    deletions.vms.add(providerId);
    return true;
  };

  const deleteOne = async (vm: ListedMachine, list: VmList, signal: AbortSignal): Promise<void> => {
    const { machineClass } = list;
    const thing = vm.parts === undefined ? "VM" : `${vm.parts.join(", ")} of VM`;
    const because = hasMachine(vm, caches) ? "which names another VM" : "which does not exist";
    const what = `${thing} ${vm.providerId} of Machine ${vm.machineName}, ${because}`;
    const outcome = await deleteOrphan(vm, list, driver, signal);
    if (signal.aborted) return;
    if (!outcome.ok) {
      const message = `Failed to delete ${what}: ${outcome.error.code}: ${outcome.error.message}`;
      return report(machineClass, { type: "Warning", reason: eventReasons.orphanVmNotDeleted, message });
    }
    if (isPending(outcome.value)) return lists.request(machineClass, outcome.value.pending.checkAfterMs);
    report(machineClass, { type: "Normal", reason: eventReasons.orphanVmDeleted, message: `Deleted ${what}` });
    lists.request(machineClass, 0);
  };

  return {
    async deleteDue(due, list, facts, signal) {
      for (const vm of await stillWithoutMachine(due, context, list.vms, signal)) {
        if (!(await hasNoMachine(vm, context, list.vms, signal))) continue;
        if (signal.aborted || findDoubt(observeMachineList(context), facts) !== undefined) return;
        if (!isWithinRate(list.machineClass.metadata, vm)) return;
        await deleteOne(vm, list, signal);
      }
    },
    forget: (uid) => void byClass.delete(uid),
  };
}
