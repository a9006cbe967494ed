import type { ListedMachine, MachineError } from "@millwright/core";
import { eventReasons, type Machine, type MachineClass, readOperation } from "@millwright/core/machine-api";
import { type Controller, createController, keyOf, objectFields } from "@millwright/kube";
import { resolveNamedClass } from "../cluster/class-view.ts";
import { watchClasses } from "../cluster/watch-classes.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { secretNamesOf } from "../model/class-references.ts";
import type { ClassCall, VmListDriver } from "../model/driver-port.ts";
import { isDeleting } from "../model/phase.ts";
import { hasId, isProvisioning } from "../model/provisioning.ts";
import { createListSchedule, defaultVmListTimes, type VmListTimes } from "./list-schedule.ts";

export type { VmListTimes } from "./list-schedule.ts";

/** The VMs of a class, complete. */
export interface VmList extends ClassCall {
  readonly vms: readonly ListedMachine[];
  /** When the list was requested; monotonic clock. */
  readonly startedMs: number;
  /** The machines of the class whose VM existed by then: the id was stored, and neither creation nor deletion was in progress. */
  readonly machines: readonly Machine[];
}

/** Reads a complete list. What it throws is logged. */
export type VmListReader = (list: VmList, signal: AbortSignal) => Promise<void>;

/** The lists of the VMs of all classes. */
export interface VmLists {
  readonly controller: Controller;
  readonly times: VmListTimes;
  /** Requests a list of a class after that time at the latest, milliseconds. */
  request(machineClass: MachineClass, afterMs: number): void;
  /** Counts a list that proves nothing. */
  failed(className: string, reason: string): void;
  /** Calls `listener` with the class of each list that fails, also where the driver has none. */
  onFailure(listener: (className: string) => void): void;
  /** Calls `reader` with each list, one reader after the other. */
  onList(reader: VmListReader): void;
}

/** Longest time for a list and its readers, milliseconds: a call of a driver may take five minutes. */
const TIMEOUT_MS = 15 * 60_000;

/** API servers forget events after an hour: a failure that lasts is reported again after this time, milliseconds. */
const REPORTED_MS = 30 * 60_000;

/** Lists at the same time: none is urgent. Classes of one cloud account share its request limits. */
const WORKERS = 2;

const isMade = (machine: Machine): boolean => hasId(machine) && !isProvisioning(machine) && !isDeleting(machine);

const isOutOfRange = (machine: Machine | undefined): boolean =>
  machine?.status?.lastOperation?.errorCode === "OutOfRange" || readOperation(machine?.status).code === "OutOfRange";

/** Whether a change of a machine suggests a VM without a machine: it was deleted before an id was stored, or several VMs were found for it. */
const suggestsOrphan = (old: Machine | undefined, current: Machine | undefined): boolean =>
  (current === undefined && old !== undefined && !hasId(old)) || (isOutOfRange(current) && !isOutOfRange(old));

/** Calls `listener` with the class of each machine whose change suggests a VM without a machine. */
function onLikelyOrphan({ caches, namespace }: ControllerContext, listener: (found: MachineClass) => void): void {
  caches.machines.store.subscribe((old, current) => {
    if (!suggestsOrphan(old, current)) return;
    const name = (current ?? old)?.spec.class?.name ?? "";
    const machineClass = caches.classes.store.getByRef({ namespace, name });
    if (machineClass !== undefined) listener(machineClass);
  });
}

/** Calls `listener` with the UID of each class that no longer exists. */
function onRemovedClass({ caches }: ControllerContext, listener: (uid: string) => void): void {
  caches.classes.store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid !== undefined && uid !== current?.metadata.uid) listener(uid);
  });
}

/** Reports lists that fail, by log and event, and their end. */
function createFailureReports({ clock, log, events }: Pick<ControllerContext, "clock" | "log" | "events">) {
  /** The failure that was reported as event, and when, by UID of the class. */
  const reported = new Map<string, { readonly text: string; readonly atMs: number }>();
  return {
    report(machineClass: MachineClass, code: string, error: string): void {
      const { uid = "" } = machineClass.metadata;
      const message = `Failed to list the VMs of the class: ${code}: ${error}`;
      log("warn", "Failed to list the VMs of a MachineClass", { ...objectFields(machineClass), code, error });
      const last = reported.get(uid);
      const nowMs = clock.monotonicMs();
      if (last?.text === message && nowMs - last.atMs < REPORTED_MS) return;
      reported.set(uid, { text: message, atMs: nowMs });
      events.record(machineClass, { type: "Warning", reason: eventReasons.failedListVms, message });
    },
    end(machineClass: MachineClass): void {
      if (!reported.delete(machineClass.metadata.uid ?? "")) return;
      const message = "The VMs of the class can be listed again";
      events.record(machineClass, { type: "Normal", reason: eventReasons.listedVms, message });
    },
    forget: (uid: string): void => void reported.delete(uid),
  };
}

/**
 * Lists the VMs of each class, and calls `onFailed` with each list that fails or proves nothing: when the process starts, periodically, and when a VM without a machine is likely. Lists of classes fail and are repeated
 * independently of each other. Classes whose driver has no list are ignored.
 */
export function createVmLists(
  context: ControllerContext,
  driver: VmListDriver,
  changedTimes: Partial<VmListTimes> = {},
  onFailed: (className: string, reason: string) => void = () => undefined,
): VmLists {
  const { caches, namespace, clock, random, log } = context;
  const { store } = caches.classes;
  const times = { ...defaultVmListTimes, ...changedTimes };
  const schedule = createListSchedule(times, clock, random);
  const readers: VmListReader[] = [];
  const failureListeners: ((className: string) => void)[] = [];
  const failures = createFailureReports(context);

  const list = async (machineClass: MachineClass, { secret }: Pick<ClassCall, "secret">, signal: AbortSignal) => {
    const { name, uid = "" } = machineClass.metadata;
    const startedMs = clock.monotonicMs();
    const machines = caches.machines.store
      .byIndex("class", name)
      .filter((machine) => machine.spec.class?.name === name && isMade(machine));
    schedule.started(uid);
    const outcome = await driver.listVms({ machineClass, secret }, signal);
    if (signal.aborted) return schedule.failed(uid, 0);
    if (!outcome.ok) return fail(machineClass, outcome.error);
    schedule.succeeded(uid);
    failures.end(machineClass);
    for (const read of readers) await read({ machineClass, secret, vms: outcome.value, startedMs, machines }, signal);
  };

  const fail = (machineClass: MachineClass, { code, message, retryAfterMs = 0 }: MachineError): void => {
    const { name, uid = "" } = machineClass.metadata;
    schedule.failed(uid, retryAfterMs);
    for (const listener of failureListeners) listener(name);
    if (code === "Unimplemented") return;
    onFailed(name, code);
    failures.report(machineClass, code, message);
  };

  const controller = createController({
    name: "vm-list",
    workers: WORKERS,
    timeoutMs: TIMEOUT_MS,
    waitFor: [caches.machines, caches.classes, caches.secrets],
    allKeys: () => store.list(namespace).map(keyOf),
    clock,
    random,
    log,
    reconcile: async (key, signal) => {
      const machineClass = store.get(key);
      if (machineClass === undefined || !driver.listsVms(machineClass)) return { done: true };
      const { name, uid = "" } = machineClass.metadata;
      if (schedule.waitMs(uid) === 0) {
        await caches.secrets.read(secretNamesOf(machineClass));
        const { view, secret } = resolveNamedClass(name, caches, namespace, driver);
        // Its controllers report why. A change of the class or a Secret enqueues it.
        if (view.state === "unusable") return { done: true };
        await list(view.machineClass, { secret }, signal);
      }
      return { requeueAfterMs: schedule.waitMs(uid) };
    },
  });

  const request = (machineClass: MachineClass, afterMs: number): void => {
    schedule.request(machineClass.metadata.uid ?? "", afterMs);
    controller.enqueue(keyOf(machineClass), "routine");
  };
  // An unusable class may have become usable.
  watchClasses(caches, controller, (name) => [`${namespace}/${name}`], "routine");
  onRemovedClass(context, (uid) => {
    schedule.forget(uid);
    failures.forget(uid);
  });
  onLikelyOrphan(context, (machineClass) => request(machineClass, 0));
  return {
    controller,
    times,
    request,
    failed: onFailed,
    onFailure: (listener) => void failureListeners.push(listener),
    onList: (reader) => void readers.push(reader),
  };
}
