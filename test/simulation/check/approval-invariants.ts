import type { Machine } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { Vm } from "@millwright/provider-mock";
import type { Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";
import { begunMs, lossLimit } from "./budget-invariants.ts";
import { followRequests, generationOf, poolOf, requestedMachine } from "./requested.ts";
import { followServing } from "./serving-vms.ts";

/** What happened for one generation of a deployment. */
interface GenerationCounts {
  /** UIDs of Machines that serve and that processes deleted, by the name of their set: each set is judged by itself. */
  readonly deleted: Map<string, ReadonlySet<string>>;
  /** Nodes that became ready meanwhile. */
  arrived: number;
}

/**
 * Watches that approvals end: for one generation of a deployment no set deletes more machines that serve than the deletion budget allows, than came into service meanwhile, and than people
 * approved for that generation. What was approved for an earlier one, or came into service then, is of no use.
 */
export function watchApprovals(world: World, truth: Truth, report: (text: string) => void): void {
  const { scheduler, approvals } = world;
  const serving = followServing(world, truth);
  const requests = followRequests(world);
  const generations = new Map<string, GenerationCounts>();
  const countsOf = (metadata: ApiObject["metadata"]): GenerationCounts => {
    const known = generations.get(generationOf(metadata)) ?? {
      deleted: new Map<string, ReadonlySet<string>>(),
      arrived: 0,
    };
    generations.set(generationOf(metadata), known);
    return known;
  };
  const arrived = new Set<string>();
  world.server.objects.subscribe("nodes.", ({ object: { metadata } }) => {
    if (arrived.has(metadata.name) || !truth.isReady(metadata.name)) return;
    arrived.add(metadata.name);
    for (const pool of truth.pools()) countsOf(pool.metadata).arrived++;
  });
  const isByChoice = (machine: Machine, vm: Vm): boolean =>
    !requests.isByPeople(machine.metadata.uid ?? "") && serving.isServing(vm) && serving.faultyMs(vm) === undefined;
  const onMachineDeleted = (sender: string, machine: Machine): void => {
    const [vm, pool] = [truth.vmOf(machine), poolOf(truth, machine)];
    if (vm === undefined || pool === undefined || !isByChoice(machine, vm)) return;
    const { metadata } = pool;
    const counts = countsOf(metadata);
    const set = machine.metadata.ownerReferences?.[0]?.name ?? "";
    const uids = new Set([...(counts.deleted.get(set) ?? []), machine.metadata.uid ?? ""]);
    counts.deleted.set(set, uids);
    // One whose object is lost meanwhile is restored with a UID of its own, and may be deleted again.
    const { length: deleted } = [...uids].filter((uid) => !world.lost.has(uid));
    const fleet = truth.liveVms().filter((each) => serving.isReady(each)).length + deleted;
    const most = lossLimit(fleet) + counts.arrived + (approvals.ofGeneration.get(generationOf(metadata)) ?? 0);
    if (deleted > most)
      report(
        `${sender} deletes machine ${machine.metadata.name}: number ${deleted} of ${set} for generation ${metadata.generation}; ${most} are allowed or approved`,
      );
  };
  world.listen({
    onRequest(request) {
      const machine = world.restores() > 0 ? undefined : requestedMachine(truth, request);
      if (machine !== undefined && scheduler.nowMs() - approvals.untilMs >= begunMs)
        onMachineDeleted(request.sender, machine);
    },
  });
}
