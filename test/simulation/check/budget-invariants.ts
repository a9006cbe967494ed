import { isLive } from "@millwright/provider-mock";
import type { Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";
import { followRequests } from "./requested.ts";
import { followServing } from "./serving-vms.ts";

const MINUTE = 60_000;
const windowMs = 60 * MINUTE;
/** A deletion that began while it was approved may be carried out so much later. */
export const begunMs = 15 * MINUTE;
/** So many may always be deleted, or half of the fleet. */
export const lossLimit = (fleet: number): number => Math.max(10, Math.floor(fleet / 2));

/** Watches that no more VMs that serve are lost within an hour than the deletion budget has room for, than arrived, and than people approved. */
export function watchBudget(world: World, truth: Truth, report: (text: string) => void): void {
  const { scheduler, cloud, approvals } = world;
  const serving = followServing(world, truth);
  const requests = followRequests(world);
  const lost = new Map<string, number>();
  const arrived = new Map<string, number>();
  const within = (times: ReadonlyMap<string, number>): number =>
    [...times.values()].filter((atMs) => atMs > scheduler.nowMs() - windowMs).length;
  world.server.objects.subscribe("nodes.", ({ object: { metadata } }) => {
    if (truth.isReady(metadata.name) && !arrived.has(metadata.name)) arrived.set(metadata.name, scheduler.nowMs());
  });
  world.listen({
    onCloudCall({ sender, operation, subject }) {
      if (operation !== "deleteVm" || world.restores() > 0 || lost.has(subject)) return;
      const vm = cloud.vms().find(({ id }) => id === subject);
      if (vm === undefined || !isLive(vm) || !serving.isServing(vm) || serving.faultyMs(vm) !== undefined) return;
      // By name, or not by choice.
      const own = truth.machinesOf(vm);
      if (own.length === 0 || own.some(({ metadata }) => requests.isByPeople(metadata.uid ?? ""))) return;
      if (scheduler.nowMs() - approvals.untilMs < begunMs) return;
      lost.set(subject, scheduler.nowMs());
      const net = within(lost) - within(arrived);
      const fleet = truth.liveVms().filter((each) => serving.isReady(each)).length + within(lost);
      const most = lossLimit(fleet) + approvals.count;
      if (net > most)
        report(`${sender} deletes VM ${subject}: the ${net}th within an hour; ${most} are allowed or approved`);
    },
  });
}
