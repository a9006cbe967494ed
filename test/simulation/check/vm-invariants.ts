import type { Machine } from "@millwright/core/machine-api";
import { isLive, type Vm } from "@millwright/provider-mock";
import { simulationStart } from "../world/scheduler.ts";
import { ownerOf, type Truth } from "../world/truth.ts";
import type { World } from "../world/world.ts";

const youngVmMs = 2 * 60_000;

const isBeingDeleted = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;

/** Watches that each machine has one VM, that there are not too many, and that no VM is lost or deleted without need. Returns a check for what no event shows. */
export function watchVms(world: World, truth: Truth, report: (text: string) => void, most: () => number): () => void {
  const { scheduler, cloud } = world;
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
    const count = live.filter((vm) => truth.machinesOf(vm).some((machine) => !isBeingDeleted(machine))).length;
    if (count > most()) report(`${count} VMs of machines that are to stay; at most ${most()} are allowed`);
  };
  const check = (): void => {
    const live = truth.liveVms();
    checkOneVm(live);
    checkCount(live);
  };
  cloud.subscribe((vm) => {
    if (isLive(vm)) check();
    else if (foreign.has(vm.id)) report(`VM ${vm.id}, which is not ours, was ${vm.state}`);
  });
  for (const vm of truth.liveVms()) if (ownerOf(vm).uid === "") foreign.add(vm.id);

  world.listen({
    onCloudCall({ sender, operation, subject }) {
      if (operation !== "deleteVm" || world.restores() > 0) return;
      const vm = cloud.vms().find(({ id }) => id === subject);
      const own = vm === undefined ? [] : truth.machinesOf(vm);
      const [machine] = own;
      // A copy that names the VM does not keep it where its own machine is deleted.
      if (machine !== undefined && !own.some(isBeingDeleted))
        report(`${sender} deletes VM ${subject} of machine ${machine.metadata.name}, which is not being deleted`);
    },
  });
  world.server.objects.subscribe("machines.machine.sapcloud.io", ({ type, object }) => {
    const { uid, name } = object.metadata;
    if (type !== "DELETED" || world.restores() > 0 || world.released.has(uid)) return;
    // Lists of the cloud may lack a younger one: then it is left to the collection of VMs without machine.
    const isOld = (vm: Vm): boolean => nowMs() - Date.parse(vm.createdAt) > youngVmMs;
    for (const vm of truth.liveVms())
      if (ownerOf(vm).uid === uid && isOld(vm)) report(`machine ${name} is gone while its VM ${vm.id} lives`);
  });
  return check;
}
