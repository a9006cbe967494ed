import type { Machine } from "@millwright/core";
import { isLive, type Vm } from "@millwright/provider-mock";
import { ownerOf, type Truth } from "../world/truth.ts";
import { simulationStart } from "../world/scheduler.ts";
import type { World } from "../world/world.ts";

/** What must hold at every moment, whatever fails. */
export interface InvariantWatch {
  /** Checks what no event shows. */
  checkpoint(): void;
  /** Violations so far, each once, with the virtual time of the first. */
  readonly violations: readonly string[];
}

/** What is allowed. */
export interface Allowance {
  /** Machines beyond desired and surge; two processes that both act may each create one. */
  readonly margin: number;
}

/** More writes of one process to one path within a minute are a hot loop. */
const mostWritesPerMinute = 40;
/** Caches may lag behind a change of the desired replicas for so long. */
const scaleGraceMs = 10 * 60_000;

const youngVmMs = 2 * 60_000;
/** A process may learn so late that it lost its leases, where someone deleted them. */
const leaseGraceMs = 100_000;

const isBeingDeleted = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;

/** Follows the largest number of machines that was desired lately. */
function followDesired(truth: Truth, elapsedMs: () => number): () => number {
  const desired: { readonly replicas: number; untilMs: number }[] = [];
  return () => {
    const replicas = truth.pool()?.spec.replicas ?? 0;
    const untilMs = elapsedMs();
    const last = desired.at(-1);
    if (last?.replicas === replicas) last.untilMs = untilMs;
    else desired.push({ replicas, untilMs });
    while ((desired[0]?.untilMs ?? untilMs) < untilMs - scaleGraceMs) desired.shift();
    return Math.max(...desired.map((each) => each.replicas));
  };
}

/** Watches a world from now on. */
export function watchInvariants(world: World, truth: Truth, { margin }: Allowance): InvariantWatch {
  const violations = new Set<string>();
  const { scheduler, cloud, transcript } = world;
  const report = (text: string): void => {
    if (violations.has(text)) return;
    violations.add(text);
    transcript.add("note", "INVARIANT", text);
  };
  const mostDesired = followDesired(truth, scheduler.nowMs);
  const foreign = new Set<string>();
  const nowMs = (): number => simulationStart.getTime() + scheduler.nowMs();

  const checkOneVm = (live: readonly Vm[]): void => {
    const byUid = Map.groupBy(live, (vm) => ownerOf(vm).uid);
    for (const [uid, vms] of byUid)
      if (uid !== "" && vms.length > 1)
        report(`machine ${vms[0]?.name} (${uid}) has ${vms.length} live VMs: ${vms.map(({ id }) => id).join(" ")}`);
  };
  /** VMs of machines that are to stay: those that are being deleted are replaced before they are gone. */
  const checkCount = (live: readonly Vm[]): void => {
    const staying = new Set(truth.machines().flatMap((each) => (isBeingDeleted(each) ? [] : [each.metadata.uid])));
    const most = mostDesired() + 1 + margin;
    const count = live.filter((vm) => staying.has(ownerOf(vm).uid)).length;
    if (count > most) report(`${count} VMs of machines that are to stay; at most ${most} are allowed`);
  };
  cloud.subscribe((vm) => {
    if (isLive(vm)) {
      const live = truth.liveVms();
      checkOneVm(live);
      checkCount(live);
    }
    if (foreign.has(vm.id) && !isLive(vm)) report(`VM ${vm.id}, which is not ours, was ${vm.state}`);
  });
  for (const vm of truth.liveVms()) if (ownerOf(vm).uid === "") foreign.add(vm.id);

  /** Whether another process has held the leases for long. */
  const isUsurper = (sender: string): boolean => {
    const { holder, sinceMs } = truth.leader();
    return holder !== "" && holder !== sender && nowMs() - sinceMs > leaseGraceMs;
  };
  const writes = new Map<string, number[]>();
  world.listen({
    onRequest({ sender, method, path, atMs }) {
      if (method === "GET" || path.includes("/events")) return;
      if (!path.includes("/leases") && !sender.startsWith("rogue") && isUsurper(sender))
        report(`${sender} writes while ${truth.leader().holder} holds the leases: ${method} ${path}`);
      const key = `${sender} ${method} ${path.replace(/\?.*/, "")}`;
      const times = writes.get(key) ?? [];
      if (times.length === 0) writes.set(key, times);
      times.push(atMs);
      while ((times[0] ?? atMs) < atMs - 60_000) times.shift();
      if (times.length > mostWritesPerMinute)
        report(`hot loop: more than ${mostWritesPerMinute} times a minute: ${key}`);
    },
    onCloudCall({ sender, operation, subject }) {
      if (operation !== "deleteVm" || world.restores() > 0) return;
      const vm = cloud.vms().find(({ id }) => id === subject);
      const owner = vm === undefined ? undefined : ownerOf(vm).uid;
      const machine = truth.machines().find(({ metadata }) => metadata.uid === owner);
      if (machine !== undefined && !isBeingDeleted(machine))
        report(`${sender} deletes VM ${subject} of machine ${machine.metadata.name}, which is not being deleted`);
    },
  });

  world.server.objects.subscribe("machines.machine.sapcloud.io", ({ type, object }) => {
    if (type !== "DELETED" || world.restores() > 0) return;
    const { uid, name } = object.metadata;
    // Lists of the cloud may lack a younger one: then it is left to the collection of VMs without machine.
    const isOld = (vm: Vm): boolean => nowMs() - Date.parse(vm.createdAt) > youngVmMs;
    for (const vm of truth.liveVms())
      if (ownerOf(vm).uid === uid && isOld(vm)) report(`machine ${name} is gone while its VM ${vm.id} lives`);
  });

  return {
    checkpoint() {
      mostDesired();
      checkOneVm(truth.liveVms());
      checkCount(truth.liveVms());
    },
    get violations() {
      return [...violations];
    },
  };
}
