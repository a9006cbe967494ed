import { simulationStart } from "../world/scheduler.ts";
import type { Truth } from "../world/truth.ts";
import { namespace } from "../world/controller-process.ts";
import { otherNamespace, otherProcessName, type World } from "../world/world.ts";

/** More writes of one process to one path within a minute are a hot loop. */
const mostWritesPerMinute = 40;
/** More calls of one process about one VM within a minute are a hot loop. */
const mostCallsPerMinute = 60;
/** A process may learn so late that it lost its leases, where someone deleted them, or the API server was restored. */
const leaseGraceMs = 180_000;

/** Counts what happens within a minute, by key. */
function countPerMinute(): (key: string, atMs: number) => number {
  const all = new Map<string, number[]>();
  return (key, atMs) => {
    const times = all.get(key) ?? [];
    if (times.length === 0) all.set(key, times);
    times.push(atMs);
    while ((times[0] ?? atMs) < atMs - 60_000) times.shift();
    return times.length;
  };
}

/** The status of a machine. */
const machineStatus = /\/machines\/[^/]+\/status$/;
/** The status of a set or deployment, which changes with each of its machines. */
const ownerStatus = /\/machine(?:set|deployment)s\/[^/]+\/status$/;

/** Watches that only the holder of both leases writes, and that no one writes in a loop. */
export function watchWrites(
  world: World,
  truth: Truth,
  report: (text: string) => void,
  mostDesired: () => number,
): void {
  /** A restored API server has leases of processes that have ended since. */
  const restored = { count: world.restores(), atMs: 0 };
  /** Who else has held one of the leases for long. */
  const rightfulLeader = (sender: string): string | undefined => {
    const nowMs = simulationStart.getTime() + world.scheduler.nowMs();
    if (world.restores() !== restored.count) Object.assign(restored, { count: world.restores(), atMs: nowMs });
    const of = sender.startsWith(otherProcessName) ? otherNamespace : namespace;
    const other = truth.leaders(of).find(({ holder }) => holder !== "" && holder !== sender);
    const sinceMs = Math.max(other?.sinceMs ?? nowMs, restored.atMs);
    return nowMs - sinceMs > leaseGraceMs ? other?.holder : undefined;
  };
  const writes = countPerMinute();
  /** Writes of one process to the status of any machine, in the minute before the last of them. */
  const ofMachines = new Map<string, { readonly count: number; readonly atMs: number }>();
  const calls = countPerMinute();
  world.listen({
    onRequest({ sender, method, path, atMs }) {
      if (method === "GET" || path.includes("/events")) return;
      if (!path.includes("/leases") && !sender.startsWith("rogue")) {
        const leader = rightfulLeader(sender);
        if (leader !== undefined) report(`${sender} writes while ${leader} holds a lease: ${method} ${path}`);
      }
      const written = path.replace(/\?.*/, "");
      const key = `${sender} ${method} ${written}`;
      // Each machine is created once; while it joins, or fails again and again, it changes what its owners report.
      if (machineStatus.test(written)) ofMachines.set(sender, { count: writes(`${sender} machines`, atMs), atMs });
      const byMachine = method === "POST" || ownerStatus.test(written) ? 4 * mostDesired() : 0;
      // A deployment follows its machine, and the set of that.
      const changes = ofMachines.get(sender);
      const isRecent = changes !== undefined && atMs - changes.atMs < 60_000;
      const byChange = ownerStatus.test(written) && isRecent ? 3 * changes.count : 0;
      const most = mostWritesPerMinute + Math.max(byMachine, byChange);
      if (writes(key, atMs) > most) report(`hot loop: more than ${most} times a minute: ${key}`);
    },
    onCloudCall({ sender, operation, subject }) {
      if (operation === "listVms") return;
      const key = `${sender} ${operation} ${subject}`;
      if (calls(key, world.scheduler.nowMs()) > mostCallsPerMinute)
        report(`hot loop: more than ${mostCallsPerMinute} times a minute: ${key}`);
    },
  });
}
