import { type GetNodeTemplateResponse, MachineError } from "@millwright/core";
import type { AwsClass, MethodCall } from "./vm/method-call.ts";

/** Names of architectures as Kubernetes writes them. */
const architectures: Readonly<Record<string, string>> = { x86_64: "amd64", arm64: "arm64", i386: "386" };

/** Capacity and zone of a class according to EC2, for the autoscaler if the class has no `nodeTemplate`. */
export async function getNodeTemplate(
  { spec }: AwsClass,
  { session, context }: MethodCall,
): Promise<GetNodeTemplateResponse> {
  const { machineType, networkInterfaces } = spec;
  const subnetId = networkInterfaces[0]?.subnetID ?? "";
  const [type, subnet] = await Promise.all([
    session.api.describeInstanceType(machineType, context.signal),
    session.api.describeSubnet(subnetId, context.signal),
  ]);
  const zone = subnet?.AvailabilityZone;
  const cpus = type?.VCpuInfo?.DefaultVCpus;
  const memoryMiB = type?.MemoryInfo?.SizeInMiB;
  if (cpus === undefined || memoryMiB === undefined) {
    throw new MachineError("InvalidArgument", `providerSpec.machineType: EC2 has no machine type "${machineType}"`);
  }
  if (zone === undefined) {
    throw new MachineError(
      "InvalidArgument",
      `providerSpec.networkInterfaces[0].subnetID: there is no subnet "${subnetId}"`,
    );
  }
  const gpus = (type?.GpuInfo?.Gpus ?? []).reduce((sum, { Count = 0 }) => sum + Count, 0);
  const architecture = architectures[type?.ProcessorInfo?.SupportedArchitectures?.[0] ?? ""];
  return {
    nodeTemplate: {
      ...(architecture === undefined ? {} : { architecture }),
      // With fewer cores or threads asked for, the VM has fewer CPUs than its type.
      capacity: { cpu: cpusOf(spec.cpuOptions) ?? cpus, gpu: gpus, memory: `${memoryMiB}Mi` },
      instanceType: machineType,
      region: session.region,
      zone,
    },
  };
}

function cpusOf(options: AwsClass["spec"]["cpuOptions"]): number | undefined {
  const { coreCount, threadsPerCore } = options ?? {};
  return coreCount === undefined || threadsPerCore === undefined ? undefined : coreCount * threadsPerCore;
}
