import { type GetNodeTemplateResponse, MachineError } from "@millwright/core";
import { isMissing } from "./api/gce-failure.ts";
import type { GcpClass, MethodCall } from "./vm/method-call.ts";

/** Names of architectures as Kubernetes writes them. */
const architectures: Readonly<Record<string, string>> = { X86_64: "amd64", ARM64: "arm64" };

/** Capacity of the machine type of a class according to Compute Engine, for the autoscaler if the class has no `nodeTemplate`. */
export async function getNodeTemplate(
  { spec }: GcpClass,
  { session, context }: MethodCall,
): Promise<GetNodeTemplateResponse> {
  const { machineType, zone, region, gpu } = spec;
  const unknown = `providerSpec.machineType: Compute Engine has no "${machineType}" in ${zone}`;
  const type = await session.api
    .getMachineType({ project: session.project, zone }, machineType, context.signal)
    .catch((error: unknown) => {
      if (isMissing(error, `machineTypes/${machineType}`))
        throw new MachineError("InvalidArgument", unknown, { cause: error });
      throw error;
    });
  const { guestCpus, memoryMb } = type;
  if (typeof guestCpus !== "number" || typeof memoryMb !== "number") throw new MachineError("InvalidArgument", unknown);
  const built = (type.accelerators ?? []).reduce(
    (sum, { guestAcceleratorCount }) => sum + (guestAcceleratorCount ?? 0),
    0,
  );
  const architecture = architectures[String(type.architecture)];
  return {
    nodeTemplate: {
      ...(architecture === undefined ? {} : { architecture }),
      capacity: { cpu: guestCpus, gpu: built + (gpu?.count ?? 0), memory: `${memoryMb}Mi` },
      instanceType: machineType,
      region,
      zone,
    },
  };
}
