import type { Ec2Action } from "./call.ts";
import { instancesById } from "./describe-instances.ts";
import { instanceStates } from "./instance.ts";
import { refuseDryRun } from "./parameters.ts";
import { Ec2Refusal } from "./refusal.ts";

/** `TerminateInstances`: without effect on terminating or terminated instances. */
export const terminateInstances: Ec2Action = (parameters, call) => {
  const { world } = call;
  const ids = parameters.texts("InstanceId");
  const isDryRun = parameters.flag("DryRun") === true;
  parameters.refuseUnread();
  if (ids.length === 0) throw new Ec2Refusal("MissingParameter", "The request must contain the parameter InstanceId");
  const going = instancesById(call, ids);
  if (isDryRun) refuseDryRun(parameters);
  const before = going.map((instance) => world.state(instance) ?? "terminated");
  for (const instance of going) {
    if (instance.terminatedAtMs !== undefined) continue;
    instance.terminatedAtMs = world.nowMs();
    instance.stateReason = {
      code: "Client.UserInitiatedShutdown",
      message: "Client.UserInitiatedShutdown: User initiated shutdown",
    };
  }
  const result = going.map((instance, index) => {
    const now = world.state(instance) ?? "terminated";
    const previous = before[index] ?? now;
    return {
      instanceId: instance.id,
      currentState: { code: instanceStates[now], name: now },
      previousState: { code: instanceStates[previous], name: previous },
    };
  });
  world.sweep();
  return { instancesSet: result };
};
