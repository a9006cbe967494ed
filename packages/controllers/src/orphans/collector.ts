import { formatGoDuration } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import { annotationKeys, eventReasons, type MachineClass, machineClassResource } from "@millwright/core/machine-api";
import { type EventRecord, objectFields } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { VmLists } from "../vm-lists/vm-lists.ts";
import { decideOrphans, type OrphanDecision, type OrphanTimes, type Sighting } from "./decide-orphans.ts";
import { createOrphanDeleter, hasMachine, type RecordVm, type ReportOnClass } from "./delete-orphans.ts";
import { findDoubt, type MachineListFacts } from "./find-doubt.ts";
import { createListedVms } from "./listed-vms.ts";
import { withoutAwaiting } from "./awaiting-person.ts";
import { findOrphans } from "./find-orphans.ts";
import { listedAs, nodesOfVm } from "./nodes-of-vm.ts";
import { observeMachineList } from "./observe-machine-list.ts";
import { createOrphanDrains, type OrphanDrains } from "./orphan-drains.ts";
import { formatQuarantine, type Quarantine, readQuarantine } from "./quarantine.ts";

/** What happens to VMs without machine: they are deleted, or only reported. */
export type OrphanMode = "collect" | "report";

export interface OrphanOptions extends OrphanTimes {
  readonly mode: OrphanMode;
  /** As of Machines, milliseconds. */
  readonly drainTimeoutMs: number;
}

/** What is kept of a class between two lists, in memory. */
interface ClassState {
  readonly sightings: ReadonlyMap<string, Sighting>;
  readonly facts: MachineListFacts;
  readonly doubt: string | undefined;
}

const foundEvent = (vm: ListedMachine, hasMachine: boolean, { mode, quarantineMs }: OrphanOptions): EventRecord => {
  const { providerId, machineName, parts = [] } = vm;
  const isVm = parts.length === 0;
  const what = isVm ? `VM ${providerId}` : `What is left of VM ${providerId}, ${parts.join(", ")},`;
  const why = hasMachine
    ? `is a second VM of Machine ${machineName}, which names another one`
    : `has no Machine; it was created for Machine ${machineName}`;
  const next =
    mode === "collect"
      ? `It will be deleted in ${formatGoDuration(quarantineMs)}. To keep it, create the Machine with this id in spec.providerID`
      : "It is kept: delete it, or create the Machine with this id in spec.providerID";
  return { type: "Warning", reason: eventReasons.orphanVmFound, message: `${what} ${why}. ${next}` };
};

/** The class was the only way to delete its VMs, unless another one lists them. */
const classDeletedEvent = (ids: readonly string[]): EventRecord => ({
  type: "Warning",
  reason: eventReasons.orphanVmNotDeleted,
  message: `The MachineClass was deleted, and VMs without Machine remain: ${ids.join(", ")}. Delete them, unless another class lists them`,
});

/** VMs whose deletion has begun and that a list lacks, while their Nodes exist: another process may have been killed between the two. */
const goneVms = (
  machineClass: MachineClass,
  listed: readonly ListedMachine[],
  context: ControllerContext,
): readonly ListedMachine[] => {
  const ids = new Set(listed.map(({ providerId }) => providerId));
  return [...readQuarantine(machineClass).vms]
    .filter(([id, { draining }]) => draining !== undefined && !ids.has(id))
    .map(([providerId, entry]) => listedAs({ providerId, entry }))
    .filter((vm) => nodesOfVm(vm, machineClass.metadata.name, context).length > 0);
};

/** Whether a drain waits for another list that shows the VM without machine. */
const isPaused = ({ sightings, quarantine }: OrphanDecision): boolean =>
  [...sightings].some(([id, { count }]) => count < 2 && quarantine.vms.get(id)?.draining !== undefined);

/** Writes quarantines: only the lists do, and those of a class come one after the other. */
function createQuarantineWriter(context: ControllerContext, options: OrphanOptions) {
  const { caches, namespace } = context;
  const { store } = caches.classes;
  const writer = createControlWriter<MachineClass>(context, machineClassResource, store);
  const write = async ({ metadata }: MachineClass, quarantine: Quarantine): Promise<void> => {
    const { name, uid = "", annotations } = metadata;
    const text = formatQuarantine(quarantine, options.mode === "collect" ? options.quarantineMs : undefined);
    if (text === (annotations?.[annotationKeys.orphanVms] ?? null)) return;
    await writer.patch({ namespace, name }, { metadata: { uid, annotations: { [annotationKeys.orphanVms]: text } } });
  };
  const record: RecordVm = async ({ metadata }, providerId, change) => {
    const machineClass = store.getByRef({ namespace, name: metadata.name });
    if (machineClass === undefined) return;
    const { machines, vms } = readQuarantine(machineClass);
    const entry = vms.get(providerId);
    // A user has removed it: the VM starts again.
    if (entry === undefined) return;
    await write(machineClass, { machines, vms: new Map([...vms, [providerId, { ...entry, ...change }]]) });
  };
  return { write, record };
}

/** Those of the VMs that no Machine owns, and that no MachineSet waits for. */
const orphansAmong = (
  vms: readonly ListedMachine[],
  listed: readonly ListedMachine[],
  { caches, namespace }: Pick<ControllerContext, "caches" | "namespace">,
): readonly ListedMachine[] =>
  withoutAwaiting(
    findOrphans(vms, caches.machines.store.list(namespace), namespace, listed),
    caches.sets.store.list(namespace),
  );

/** Reports on a class as event, and in the log. */
const reportOn =
  ({ events, log }: Pick<ControllerContext, "events" | "log">): ReportOnClass =>
  (machineClass, event) => {
    events.record(machineClass, event);
    const level = event.type === "Warning" ? "warn" : "info";
    log(level, event.reason, { ...objectFields(machineClass), because: event.message });
  };

/**
 * Finds VMs without machine in each list of VMs, records them on their class, and deletes them after a quarantine, once their Nodes are drained: one after the other, at a limited rate, and only after
 * the machines were read once more from the API server. See `decideOrphans`.
 *
 * @returns what the controller of their Nodes works with
 */
export function collectOrphans(
  context: ControllerContext,
  driver: Pick<MachineDriver, "deleteVm">,
  lists: Pick<VmLists, "onList" | "request" | "times">,
  options: OrphanOptions,
): OrphanDrains {
  const { caches, namespace, clock, log } = context;
  const { store } = caches.classes;
  const listed = createListedVms(3 * lists.times.periodMs, clock);
  /** By UID of the class. */
  const states = new Map<string, ClassState>();
  const report = reportOn(context);
  const drains = createOrphanDrains(context);

  const { write: writeQuarantine, record } = createQuarantineWriter(context, options);
  const deleter = createOrphanDeleter(context, {
    driver,
    lists,
    drains,
    report,
    record,
    drainTimeoutMs: () => options.drainTimeoutMs,
  });

  lists.onList(async (list, signal) => {
    const { name, uid = "" } = list.machineClass.metadata;
    const machineClass = store.getByRef({ namespace, name });
    if (machineClass?.metadata.uid !== uid) return;
    listed.record(name, list.vms);
    const before = states.get(uid);
    const facts = observeMachineList(context);
    const doubt = findDoubt(facts, before?.facts);
    const quarantine = readQuarantine(machineClass);
    const vms = [
      ...list.vms.filter(({ providerId }) => listed.isFirst(name, providerId)),
      ...goneVms(machineClass, list.vms, context),
    ];
    const decision = decideOrphans(
      {
        orphans: orphansAmong(vms, list.vms, context),
        sightings: before?.sightings ?? new Map(),
        quarantine,
        doubt,
        machines: facts.count,
        startedMs: list.startedMs,
        now: clock.now().getTime(),
      },
      options,
    );
    states.set(uid, { sightings: decision.sightings, facts, doubt });
    if (doubt !== undefined && doubt !== before?.doubt)
      log("warn", "VMs without machine are neither found nor deleted", {
        ...objectFields(list.machineClass),
        because: doubt,
      });
    if (doubt === undefined) await writeQuarantine(machineClass, decision.quarantine);
    for (const vm of decision.found) report(machineClass, foundEvent(vm, hasMachine(vm, caches), options));
    if (decision.found.length > 0) lists.request(machineClass, options.quarantineMs);
    if (options.mode !== "collect") return;
    // A drain that another process has begun, or that a doubt had stopped, goes on after two lists.
    if (isPaused(decision)) lists.request(machineClass, 0);
    await deleter.deleteDue({ due: decision.due, quarantine: decision.quarantine, list, facts }, signal);
  });
  drains.onEnded((name) => {
    const machineClass = store.getByRef({ namespace, name });
    if (machineClass !== undefined) lists.request(machineClass, 0);
  });

  store.subscribe((old, current) => {
    if (old?.metadata.uid === undefined || old.metadata.uid === current?.metadata.uid) return;
    states.delete(old.metadata.uid);
    deleter.forget(old.metadata.uid);
    listed.forget(old.metadata.name);
    drains.forget(old.metadata.name);
    const ids = [...readQuarantine(old).vms.keys()];
    if (ids.length > 0) report(old, classDeletedEvent(ids));
  });
  return drains;
}
