import { MachineError } from "@millwright/core";
import type { AwsRequest, MethodCall } from "./method-call.ts";
import { isOwnedBy } from "./owner-tags.ts";
import { readProviderId } from "./provider-id.ts";
import { endOf, isLive, ownLiveVm, type Vm } from "./vm.ts";

/**
 * The VM of a machine that is not terminating. A machine with a provider id has exactly that VM, also when its tags were removed: a caller that is informed
 * that it does not exist would make another one.
 *
 * @throws MachineError NotFound, with the reason of EC2 for its termination; OutOfRange when there are several
 */
export async function findVm({ machine }: AwsRequest, { session, keys, context }: MethodCall): Promise<Vm> {
  const named = await session.named(machine.name, context);
  const own = ownLiveVm(named, keys, machine);
  const { providerId = "" } = machine;
  if (providerId === "") {
    if (own !== undefined) return own;
    throw new MachineError(
      "NotFound",
      `there is no VM for machine "${machine.name}"${lastOf(named.filter((vm) => isOwnedBy(vm, keys, machine)))}`,
    );
  }
  const { instanceId } = readProviderId(providerId);
  if (own?.id === instanceId) return own;
  const vm = named.find(({ id }) => id === instanceId) ?? (await session.byId(instanceId, context));
  if (vm !== undefined && isLive(vm)) return vm;
  const other = own === undefined ? "" : `; it has ${own.id}`;
  throw new MachineError(
    "NotFound",
    `machine "${machine.name}": ${vm === undefined ? `there is no VM ${instanceId}` : `VM ${endOf(vm)}`}${other}`,
  );
}

/** The end of the newest VM that a machine had. */
function lastOf(ended: readonly Vm[]): string {
  const [last] = ended.toSorted((a, b) => startOf(b) - startOf(a));
  return last === undefined ? "" : `; ${endOf(last)}`;
}

const startOf = ({ instance }: Vm): number => instance.LaunchTime?.getTime() ?? 0;
