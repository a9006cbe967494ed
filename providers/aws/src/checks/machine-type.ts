import { candidatesOf } from "../launch/launch.ts";
import type { AwsSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** Whether the type of the class is sold in the zone of its subnet, and those of its fallbacks in theirs. */
export async function checkMachineType(spec: AwsSpec, { session, context }: MethodCall): Promise<Finding> {
  const { api } = session;
  const missing: string[] = [];
  let isMainMissing = false;
  let zones = 0;
  for (const [index, { machineType, subnetId }] of candidatesOf(spec).entries()) {
    const id = subnetId ?? spec.networkInterfaces[0]?.subnetID ?? "";
    const subnet = await api.describeSubnet(id, context.signal).catch(() => undefined);
    context.signal.throwIfAborted();
    const zone = subnet?.AvailabilityZone;
    if (zone === undefined) continue;
    zones++;
    if (await api.isOffered(machineType, zone, context.signal)) continue;
    missing.push(
      `${index === 0 ? "machineType" : `fallbacks[${index - 1}]`}: EC2 does not offer "${machineType}" in ${zone}`,
    );
    isMainMissing ||= index === 0;
  }
  if (missing.length > 0) {
    return {
      status: isMainMissing ? "failed" : "warning",
      message: `providerSpec.${missing.join("; providerSpec.")}.`,
    };
  }
  if (zones === 0) return { status: "skipped", message: "The zone is unknown without the subnet." };
  return { status: "ok", message: `EC2 offers "${spec.machineType}" in the zone of the class.` };
}
