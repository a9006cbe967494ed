import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import { eventReasons, type Machine } from "@millwright/core/machine-api";
import { keyOf, objectFields } from "@millwright/kube";
import { createMatchNode, findNode } from "../cluster/node-candidates.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { MachineDriver, VmListDriver } from "../model/driver-port.ts";
import type { ListDoubt } from "../model/list-doubt.ts";
import { moveOf } from "../model/moved-class.ts";
import { lastReportOf } from "../model/old-node.ts";
import { hasId } from "../model/provisioning.ts";
import { decideSuspicion, isDoubtful, type Suspicion } from "./decide-suspicion.ts";
import { createListDoubts } from "./list-doubts.ts";
import type { VmList, VmLists } from "./vm-lists.ts";

/** Machines whose VM does not exist, although nothing has deleted it through them. */
export interface MissingVms {
  has(machine: Machine): boolean;
  /** Whether a driver that finds no VM of the class may look in the wrong place. */
  doubtOf(className: string): ListDoubt | undefined;
  /** Calls `listener` with the key of a machine whose VM turns out to be missing, or to exist. */
  onChange(listener: (key: string) => void): void;
}

/** Whether a VM of the list is that of the machine, by any of its marks. */
function createIsListed(vms: readonly ListedMachine[]): (machine: Machine) => boolean {
  const ids = new Set(vms.map(({ providerId }) => providerIdKey(providerId)));
  const names = new Set(vms.map(({ machineName }) => machineName));
  const uids = new Set(vms.map(({ machineUid }) => machineUid));
  return ({ metadata, spec }) =>
    ids.has(providerIdKey(spec.providerID)) || names.has(metadata.name) || uids.has(metadata.uid ?? "");
}

/** Whether the VMs of the class of a name are listed. */
const hasListsIn =
  ({ caches, namespace }: ControllerContext, driver: Pick<VmListDriver, "listsVms">) =>
  (name: string): boolean => {
    const machineClass = caches.classes.store.getByRef({ namespace, name });
    return machineClass !== undefined && driver.listsVms(machineClass);
  };

/** Reports a list that lacks most VMs. */
function reportUnlisted(
  { events, log }: Pick<ControllerContext, "events" | "log">,
  { machineClass, machines }: VmList,
  count: number,
): void {
  const message = `VMs of ${count} of ${machines.length} machines are not listed. Check credentials, and whether fields of the class that locate VMs were changed`;
  events.record(machineClass, { type: "Warning", reason: eventReasons.vmsNotListed, message });
  log("warn", "VMs of most machines of a MachineClass are not listed", { ...objectFields(machineClass), count });
}

/**
 * Notices VMs that were deleted in the cloud, without waiting for their nodes: lists lack the VM twice, no kubelet reports in between, and then the driver, called for this machine, does not find it
 * either. Kept in memory: the next process finds it out again.
 */
export function createMissingVms(
  context: ControllerContext,
  driver: Pick<MachineDriver, "findVm"> & Pick<VmListDriver, "listsVms">,
  lists: Pick<VmLists, "onList" | "onFailure" | "request" | "times" | "failed">,
): MissingVms {
  const { caches, target, log } = context;
  const { confirmAfterMs, minIntervalMs } = lists.times;
  const match = createMatchNode(caches, context.namespace, context.matchVm);
  /** By UID of the machine. */
  const suspicions = new Map<string, Suspicion>();
  const missing = new Map<string, Suspicion>();
  const listeners: ((key: string) => void)[] = [];
  // Twice the time within which the first list is due.
  const doubts = createListDoubts(context.clock, hasListsIn(context, driver), 2 * minIntervalMs);
  lists.onFailure(doubts.answered);

  const lastReport = (machine: Machine): number => {
    const node = target === undefined ? undefined : findNode(machine, target.caches, match).node;
    return node === undefined ? 0 : lastReportOf(node);
  };
  const has = (machine: Machine): boolean => {
    const known = missing.get(machine.metadata.uid ?? "");
    if (known === undefined || known.providerId !== machine.spec.providerID) return false;
    return lastReport(machine) <= known.lastReport;
  };

  const set = (machine: Machine, proof: Suspicion | undefined): void => {
    const { uid = "" } = machine.metadata;
    suspicions.delete(uid);
    const isChange = missing.has(uid) || proof !== undefined;
    if (proof === undefined) missing.delete(uid);
    else missing.set(uid, proof);
    if (isChange) for (const listener of listeners) listener(keyOf(machine));
  };

  const confirm = async (machine: Machine, list: VmList, signal: AbortSignal): Promise<void> => {
    const { machineClass, secret } = list;
    const outcome = await driver.findVm({ machine, machineClass, secret }, signal);
    const current = caches.machines.store.get(keyOf(machine));
    if (signal.aborted || current === undefined || current.metadata.uid !== machine.metadata.uid) return;
    if (outcome.ok) return set(machine, undefined);
    if (outcome.error.code === "NotFound") {
      set(machine, suspicions.get(machine.metadata.uid ?? ""));
      // Before the health timeout has passed.
      return lists.request(machineClass, confirmAfterMs);
    }
    const { code, message: error } = outcome.error;
    log("warn", "Cannot confirm that a VM is missing", { ...objectFields(machine), code, error });
  };

  lists.onList(async (list, signal) => {
    const isListed = createIsListed(list.vms.filter(({ parts }) => parts === undefined));
    const className = list.machineClass.metadata.name;
    doubts.answered(className);
    const absent = list.machines.filter((machine) => !isListed(machine));
    for (const machine of list.machines) if (isListed(machine)) set(machine, undefined);
    const unknown = absent.filter((machine) => !has(machine));
    if (isDoubtful(unknown.length, list.machines.length)) {
      for (const { metadata } of unknown) suspicions.delete(metadata.uid ?? "");
      doubts.doubtful(className, unknown.length, list.machines.length);
      lists.failed(className, eventReasons.vmsNotListed);
      lists.request(list.machineClass, minIntervalMs);
      return reportUnlisted(context, list, unknown.length);
    }
    // Those that are being deleted, too.
    if (caches.machines.store.byIndex("class", className).some(isListed)) doubts.proven(className);
    const due: Machine[] = [];
    // A class that was pointed elsewhere lists the VMs of another place.
    for (const machine of unknown.filter((each) => moveOf(each, list.machineClass) === undefined)) {
      const { uid = "" } = machine.metadata;
      if (!suspicions.has(uid)) lists.request(list.machineClass, confirmAfterMs);
      const { suspicion, isDue } = decideSuspicion(
        suspicions.get(uid),
        { providerId: machine.spec.providerID ?? "", sinceMs: list.startedMs, lastReport: lastReport(machine) },
        confirmAfterMs,
      );
      suspicions.set(uid, suspicion);
      if (isDue) due.push(machine);
    }
    for (const machine of due) if (!signal.aborted) await confirm(machine, list, signal);
  });
  caches.machines.store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid === undefined || (current?.metadata.uid === uid && hasId(current))) return;
    suspicions.delete(uid);
    missing.delete(uid);
  });
  return { has, doubtOf: doubts.of, onChange: (listener) => void listeners.push(listener) };
}
