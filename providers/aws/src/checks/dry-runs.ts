import { type ClassIdentity, Secret, type SecretData, userDataKey } from "@millwright/core";
import { hasErrorCode } from "../api/errors.ts";
import { vmInput } from "../launch/vm-input.ts";
import type { AwsSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { isLive } from "../vm/vm.ts";
import type { Finding } from "./finding.ts";

/** The machine of a launch that never happens. Its name stands in tags that are never written. */
const machine = { name: "millwright-doctor", namespace: "millwright-doctor", uid: "millwright-doctor" };

/**
 * The launch that the class describes, with `DryRun`: EC2 checks the permissions for it, including those for its tags and instance profile, and what it can check of its parameters. Nothing is launched.
 * Source: Amazon EC2 API Reference, RunInstances, parameter `DryRun`.
 */
export async function checkLaunch(
  { name, spec }: ClassIdentity<AwsSpec>,
  secret: SecretData,
  { session, context }: MethodCall,
): Promise<Finding> {
  const rootDeviceName = await session.rootDevice(spec.ami, context);
  const userData = secret[userDataKey] ?? Secret.of("");
  const launch = { spec, machine, machineClass: name, userData, token: machine.uid, rootDeviceName };
  await session.api.dryRunLaunch(vmInput(launch, { machineType: spec.machineType }), context.signal);
  return { status: "ok", message: "A dry run of RunInstances with the tags and the instance profile is accepted." };
}

/** Whether VMs of the cluster may be terminated. Only a request for an existing VM shows it: policies depend on its tags. */
export async function checkTermination({ session, keys, context }: MethodCall): Promise<Finding> {
  const vms = await session.all(keys, context).catch((error: unknown) => {
    // The permission to list has a check of its own.
    if (hasErrorCode(error, "UnauthorizedOperation")) return [];
    throw error;
  });
  const vm = vms.find(isLive);
  if (vm === undefined) {
    return { status: "skipped", message: "A dry run needs a VM of this cluster, and none can be listed." };
  }
  await session.api.dryRunTerminate(vm.id, context.signal);
  return { status: "ok", message: `A dry run for VM ${vm.id} is accepted.` };
}
