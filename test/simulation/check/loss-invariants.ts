import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import { controllerRefOf, type ObjectRef } from "@millwright/kube";
import { isLive, type Vm } from "@millwright/provider-mock";
import type { World } from "../world/world.ts";
import { ownerOf, type Truth } from "../world/truth.ts";
import { begunMs } from "./budget-invariants.ts";
import { followRequests, generationOf, poolOf, requestedMachine } from "./requested.ts";
import { followServing } from "./serving-vms.ts";

const MINUTE = 60_000;
/** Controllers may take so long until they have what was declared last, and until what failed is replaced. */
const graceMs = 15 * MINUTE;
/** A VM without machine is deleted after the creation timeout and a quarantine of 15 minutes, never earlier than this. */
const orphanMs = 20 * MINUTE;
/** As the strategy of the deployments has it. */
const maxUnavailable = 1;

const isTerminating = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;

/** What happened lately, each for as long as it counts. */
function remember<T>(nowMs: () => number) {
  const all: { readonly value: T; untilMs: number }[] = [];
  return {
    add: (value: T): void => void all.push({ value, untilMs: nowMs() }),
    /** What is true now counts from now on until it is not any more. */
    keep(value: T): void {
      const last = all.at(-1);
      if (last?.value === value) last.untilMs = nowMs();
      else all.push({ value, untilMs: nowMs() });
    },
    since: (ms: number): readonly T[] => all.flatMap(({ value, untilMs }) => (untilMs >= ms ? [value] : [])),
  };
}

/** Follows the smallest number of machines that was wanted of a deployment lately, and whether it replaced all at once. */
function followPools({ server, scheduler }: World) {
  const pools = new Map<string, ReturnType<typeof remember<number>>>();
  const keyOf = ({ namespace, name }: ObjectRef): string => `${namespace}/${name}`;
  server.objects.subscribe("machinedeployments.machine.sapcloud.io", ({ object, previous }) => {
    for (const each of [previous, object]) {
      if (each === undefined) continue;
      // The schema of the CRD vouches for what is stored.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const { metadata, spec } = each as unknown as MachineDeployment;
      const known = pools.get(keyOf(metadata)) ?? remember<number>(scheduler.nowMs);
      pools.set(keyOf(metadata), known);
      // All at once: nothing is promised.
      known.add(spec.strategy?.type === "Recreate" ? 0 : (spec.replicas ?? 0));
    }
  });
  return {
    least({ metadata, spec }: MachineDeployment): number {
      const now = spec.strategy?.type === "Recreate" ? 0 : (spec.replicas ?? 0);
      const lately = pools.get(keyOf(metadata))?.since(scheduler.nowMs() - graceMs) ?? [];
      return Math.min(now, ...lately);
    },
  };
}

/** Follows which machines each VM had, and which machines began to terminate lately. */
function followMachines({ server, scheduler }: World, truth: Truth) {
  const { nowMs } = scheduler;
  const holders = new Map<string, { readonly uids: Set<string>; atMs: number }>();
  const terminated = remember<string>(nowMs);
  const note = (machine: Machine): void => {
    const vm = truth.vmOf(machine);
    if (vm === undefined) return;
    const known = holders.get(vm.id) ?? { uids: new Set(), atMs: 0 };
    holders.set(vm.id, known);
    known.uids.add(machine.metadata.uid ?? "");
    known.atMs = nowMs();
  };
  server.objects.subscribe("machines.machine.sapcloud.io", ({ type, object, previous }) => {
    // The schema of the CRD vouches for what is stored.
    const machine: unknown = object;
    const before: unknown = previous;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const [now, then] = [machine as Machine, before as Machine | undefined];
    for (const each of then === undefined ? [now] : [now, then]) note(each);
    const begins = isTerminating(now) && (then === undefined || !isTerminating(then));
    if (begins || type === "DELETED") terminated.add(now.metadata.uid ?? "");
  });
  return {
    /** UIDs of the machines that a VM had. */
    uidsOf: ({ id }: Vm): readonly string[] => [...(holders.get(id)?.uids ?? [])],
    /** For how long it has had none. */
    withoutMs: ({ id }: Vm): number => nowMs() - (holders.get(id)?.atMs ?? 0),
    terminatedSince: (ms: number): ReadonlySet<string> => new Set(terminated.since(ms)),
  };
}

/** Reports a copy of a machine that its set keeps in place of the machine itself. */
function watchCopies(world: World, truth: Truth, machine: Machine, vm: Vm, report: (name: string) => void): void {
  const { uid } = machine.metadata;
  const set = controllerRefOf(machine)?.uid;
  const copies = truth
    .machinesOf(vm)
    .filter((other) => other.metadata.uid !== uid && set !== undefined && controllerRefOf(other)?.uid === set)
    .map(({ metadata }) => metadata.uid);
  if (copies.length === 0) return;
  // The set may delete all of them, in any order.
  world.outside.clock.setTimer(MINUTE, () => {
    const kept = truth.machines().find((each) => !isTerminating(each) && copies.includes(each.metadata.uid));
    if (kept !== undefined) report(kept.metadata.name);
  });
}

/**
 * Watches that no VM that serves is lost beyond what people requested: by name, with an owner or a namespace, by fewer replicas, another template, or by leaving it without a machine for long.
 *
 * @param margin machines that two processes that both act may delete more
 */
export function watchLosses(world: World, truth: Truth, report: (text: string) => void, margin: number): void {
  const { nowMs } = world.scheduler;
  const requests = followRequests(world);
  const serving = followServing(world, truth);
  const pools = followPools(world);
  const machines = followMachines(world, truth);

  const isExcused = (vm: Vm): boolean =>
    !serving.isServing(vm) || (serving.faultyMs(vm) ?? Number.NEGATIVE_INFINITY) > nowMs() - 2 * graceMs;
  /** VMs of a deployment that serve, without one. */
  const countLeft = (pool: MachineDeployment, without: Vm): number =>
    truth.machines().filter((other) => {
      if (isTerminating(other) || poolOf(truth, other)?.metadata.uid !== pool.metadata.uid) return false;
      const own = truth.vmOf(other);
      return own !== undefined && own.id !== without.id && serving.isReady(own);
    }).length;
  /** What failed, and what no process requested by itself. */
  const countExcused = (): number => {
    const sinceMs = nowMs() - graceMs;
    const others = [...machines.terminatedSince(sinceMs)].filter(
      (uid) => requests.isByPeople(uid) || !requests.isByController(uid),
    );
    return others.length + serving.faultySince(sinceMs).length;
  };

  const onMachineDeleted = (sender: string, machine: Machine): void => {
    const [vm, pool] = [truth.vmOf(machine), poolOf(truth, machine)];
    const { uid = "", name } = machine.metadata;
    if (vm === undefined || pool === undefined || isExcused(vm) || requests.isByPeople(uid)) return;
    // It is not known whose a VM is that was created for none of those that name it.
    if (machine.status?.currentStatus?.phase === "Failed" && ownerOf(vm).uid !== uid) return;
    watchCopies(world, truth, machine, vm, (copy) =>
      report(`${sender} deletes machine ${name}, which serves, and keeps its copy ${copy}`),
    );
    // What people approve is deleted at once, whatever the strategy promises.
    if (nowMs() - world.approvals.untilMs < begunMs) return;
    const left = countLeft(pool, vm);
    const approved = world.approvals.ofGeneration.get(generationOf(pool.metadata)) ?? 0;
    const least = pools.least(pool) - maxUnavailable - countExcused() - margin - approved;
    if (left < least)
      report(
        `${sender} deletes machine ${name}, which serves: ${left} are left of ${pool.metadata.name}, not ${least}`,
      );
  };

  const awaitsPerson = (vm: Vm): boolean => world.awaiting.has(ownerOf(vm).uid) && truth.machinesOf(vm).length === 0;
  world.server.objects.subscribe("machineclasses.machine.sapcloud.io", ({ object }) => {
    const quarantine = JSON.stringify(object.metadata["annotations"] ?? {});
    for (const vm of truth.liveVms())
      if (awaitsPerson(vm) && quarantine.includes(vm.providerId))
        report(`VM ${vm.id} of the lost machine ${ownerOf(vm).machine}, which waits for a person, is in quarantine`);
  });

  const onVmDeleted = (sender: string, vm: Vm): void => {
    if (awaitsPerson(vm))
      report(`${sender} deletes VM ${vm.id} of the lost machine ${ownerOf(vm).machine}, which waits for a person`);
    const isRequested = machines.uidsOf(vm).some((uid) => requests.isByPeople(uid) || requests.isByController(uid));
    if (isRequested || isExcused(vm)) return;
    const [machine] = truth.machinesOf(vm);
    if (machine !== undefined)
      report(`${sender} deletes VM ${vm.id} of machine ${machine.metadata.name}, whose deletion no one requested`);
    else if (machines.withoutMs(vm) < orphanMs)
      report(`${sender} deletes VM ${vm.id}, which had a machine ${Math.round(machines.withoutMs(vm) / 1000)} s ago`);
  };

  world.listen({
    onRequest(request) {
      const machine = world.restores() > 0 ? undefined : requestedMachine(truth, request);
      if (machine !== undefined) onMachineDeleted(request.sender, machine);
    },
    onCloudCall({ sender, operation, subject }) {
      if (operation !== "deleteVm" || world.restores() > 0) return;
      const vm = world.cloud.vms().find(({ id }) => id === subject);
      if (vm !== undefined && isLive(vm) && ownerOf(vm).uid !== "") onVmDeleted(sender, vm);
    },
  });
}
