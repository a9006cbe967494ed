import { isMissing } from "../api/gce-failure.ts";
import type { MachineTypeResource } from "../api/requests.ts";
import { candidatesOf } from "../launch/launch.ts";
import type { GcpSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** A machine type of a zone; undefined when the zone does not have it. */
export async function machineTypeIn(
  zone: string,
  name: string,
  { session, context }: MethodCall,
): Promise<MachineTypeResource | undefined> {
  try {
    return await session.api.getMachineType({ project: session.project, zone }, name, context.signal);
  } catch (error) {
    if (isMissing(error, `machineTypes/${name}`)) return undefined;
    throw error;
  }
}

/** Whether the zone has the machine type of the class. Where only a fallback is missing, machines can be created. */
export async function checkMachineType(spec: GcpSpec, call: MethodCall): Promise<Finding> {
  const missing: string[] = [];
  let isOwnMissing = false;
  for (const [index, { machineType, zone }] of candidatesOf(spec).entries()) {
    if ((await machineTypeIn(zone, machineType, call)) !== undefined) continue;
    isOwnMissing ||= index === 0;
    const field = index === 0 ? "machineType" : `fallbacks[${index - 1}]`;
    missing.push(`providerSpec.${field}: there is no "${machineType}" in ${zone}`);
  }
  if (missing.length > 0) return { status: isOwnMissing ? "failed" : "warning", message: `${missing.join("; ")}.` };
  return { status: "ok", message: `"${spec.machineType}" is offered in ${spec.zone}.` };
}
