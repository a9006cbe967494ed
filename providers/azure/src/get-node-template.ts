import { type GetNodeTemplateResponse, MachineError } from "@millwright/core";
import type { AzureClass, MethodCall } from "./vm/method-call.ts";

/** Names of architectures as Kubernetes writes them. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Capacity of the size of a class according to Azure, for the autoscaler if the class has no `nodeTemplate`. */
export async function getNodeTemplate(
  { spec }: AzureClass,
  { session, context }: MethodCall,
): Promise<GetNodeTemplateResponse> {
  const { properties } = spec;
  // Classes may call it `West Europe`; labels of nodes and the list of sizes never do.
  const location = spec.location.replaceAll(" ", "").toLowerCase();
  const { vmSize } = properties.hardwareProfile;
  const size = await session.size(location, vmSize, context);
  const capability = (name: string): string | undefined =>
    size?.capabilities?.find((found) => found.name?.toLowerCase() === name.toLowerCase())?.value;
  const cpu = Number(capability("vCPUs") ?? "");
  const memoryGb = Number(capability("MemoryGB") ?? "");
  if (!(cpu > 0) || !(memoryGb > 0)) {
    throw new MachineError(
      "InvalidArgument",
      `providerSpec.properties.hardwareProfile.vmSize: Azure has no size "${vmSize}" in ${location}`,
    );
  }
  const architecture = architectures[(capability("CpuArchitectureType") ?? "").toLowerCase()];
  return {
    nodeTemplate: {
      ...(architecture === undefined ? {} : { architecture }),
      // The cloud's `MemoryGB` are GiB.
      capacity: { cpu, gpu: Number(capability("GPUs") ?? "0"), memory: `${Math.round(memoryGb * 1_024)}Mi` },
      instanceType: vmSize,
      region: location,
      // As the cloud provider labels nodes: outside of zones it gives the fault domain.
      zone: properties.zone === undefined ? "0" : `${location}-${properties.zone}`,
    },
  };
}
