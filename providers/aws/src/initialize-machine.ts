import { type InitializeMachineResponse, isMachineError, MachineError } from "@millwright/core";
import { findVm } from "./vm/find-vm.ts";
import type { AwsRequest, MethodCall } from "./vm/method-call.ts";
import { pendingInitialization } from "./vm/pending-initialization.ts";
import { readProviderId } from "./vm/provider-id.ts";
import { referenceOf, type Vm } from "./vm/vm.ts";

/** Does what EC2 takes only once the VM exists: source checks off, IPv6 prefixes. What is done already is not asked for again. */
export async function initializeMachine(request: AwsRequest, call: MethodCall): Promise<InitializeMachineResponse> {
  const { api } = call.session;
  const { signal } = call.context;
  const vm = await findReady(request, call);
  const { uncheckedCards, missingPrefixes } = pendingInitialization(request.machineClass.spec, vm.instance);
  // All are tried, so that one that cannot be does not keep the others from it.
  const outcomes = await Promise.allSettled([
    ...uncheckedCards.map((id) => api.disableSourceDestCheck(id, signal)),
    ...missingPrefixes.map(({ networkInterfaceId, count }) =>
      api.assignIpv6Prefixes(networkInterfaceId, count, signal),
    ),
  ]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return referenceOf(vm);
}

/** A VM that was just made may not be shown yet: then it is too early, and not gone. */
async function findReady(request: AwsRequest, call: MethodCall): Promise<Vm> {
  try {
    return await findVm(request, call);
  } catch (error) {
    const { providerId = "" } = request.machine;
    if (!isMachineError(error) || error.code !== "NotFound" || providerId === "") throw error;
    if (!call.launches.mayBeHidden(request.machine)) throw error;
    const { instanceId } = readProviderId(providerId);
    if ((await call.session.byId(instanceId, call.context)) !== undefined) throw error;
    await call.context.clock.sleep(call.pollTimes.lookAgainMs, call.context.signal);
    const vm = await call.session.byId(instanceId, call.context);
    if (vm === undefined) throw error;
    throw new MachineError("Unavailable", `VM ${instanceId} was not visible before`, { cause: error });
  }
}
