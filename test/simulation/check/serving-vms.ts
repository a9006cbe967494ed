import { isLive, type Vm } from "@millwright/provider-mock";
import type { Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";

/** Controllers may learn so late that a node is ready again. */
const readyGraceMs = 15_000;

/** What is known of the health of VMs, from their Nodes. */
export interface ServingVms {
  /** Its Node is Ready, and has been for a while. */
  isServing(vm: Vm): boolean;
  /** Its Node is Ready now. */
  isReady(vm: Vm): boolean;
  /** When it was last not well since it served first, or ended; undefined when never. */
  faultyMs(vm: Vm): number | undefined;
  /** VMs that served, and were not well or ended after this time. */
  faultySince(ms: number): readonly string[];
}

/** Follows the health of VMs. */
export function followServing({ server, cloud, scheduler }: World, truth: Truth): ServingVms {
  const readySinceMs = new Map<string, number>();
  const hasServed = new Set<string>();
  const faulty = new Map<string, number>();
  const vmOn = (nodeName: string): Vm | undefined => cloud.vms().find((vm) => vm.nodeName === nodeName && isLive(vm));
  const spoil = ({ id }: Vm): void => void (hasServed.has(id) && faulty.set(id, scheduler.nowMs()));
  server.objects.subscribe("nodes.", ({ object: { metadata } }) => {
    const { name } = metadata;
    const vm = vmOn(name);
    if (truth.isReady(name)) {
      if (!readySinceMs.has(name)) readySinceMs.set(name, scheduler.nowMs());
      if (vm !== undefined) hasServed.add(vm.id);
      return;
    }
    readySinceMs.delete(name);
    if (vm !== undefined) spoil(vm);
  });
  cloud.subscribe((vm) => {
    if (vm.state !== "running" && vm.stateReason !== "deleted") spoil(vm);
  });
  const isReady = (vm: Vm): boolean => isLive(vm) && truth.isReady(vm.nodeName);
  return {
    isReady,
    isServing: (vm) =>
      isReady(vm) && scheduler.nowMs() - (readySinceMs.get(vm.nodeName) ?? Number.POSITIVE_INFINITY) > readyGraceMs,
    faultyMs: ({ id }) => faulty.get(id),
    faultySince: (ms) => [...faulty].flatMap(([id, atMs]) => (atMs >= ms ? [id] : [])),
  };
}
