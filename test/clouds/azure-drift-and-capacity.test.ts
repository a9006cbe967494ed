import { fileURLToPath } from "node:url";
import type { NodeTemplate } from "@millwright/core";
import { startOnArm } from "./arm-cloud.ts";
import { describeDriftAndCapacity } from "./drift-scenario.ts";

const aSize = (name: string, cpu: number, memory: string, architecture = "amd64") => ({
  name,
  nodeTemplate: {
    architecture,
    capacity: { cpu, gpu: 0, memory },
    instanceType: name,
    region: "westeurope",
    zone: "westeurope-1",
  } satisfies NodeTemplate,
});

const tag = "kubernetes.io-role-node";

describeDriftAndCapacity("Azure", async () => {
  const { arm, installation, close } = await startOnArm();
  return {
    installation,
    close,
    flags: ["--provider", fileURLToPath(new URL("azure-on-emulator.ts", import.meta.url))],
    types: {
      first: aSize("Standard_D2s_v5", 2, "8192Mi"),
      other: aSize("Standard_D2ps_v5", 2, "8192Mi", "arm64"),
      larger: aSize("Standard_D4s_v5", 4, "16384Mi"),
    },
    typeField: "properties.hardwareProfile.vmSize",
    specOf: (vmSize) => ({ properties: { hardwareProfile: { vmSize } } }),
    capacityRequests: () => arm.log.count("ResourceSkus_List"),
    hasOneList: true,
    vms: () =>
      arm.inventory().vms.map(({ name, body }) => ({ machine: name, type: body.properties.hardwareProfile.vmSize })),
    spoil(machine) {
      const vm = arm.vm(machine);
      vm.tags = { ...vm.tags, [tag]: "2" };
      return { field: `tags.${tag}`, wanted: "1", found: "2" };
    },
    lose: (machine) => arm.remove(machine),
  };
});
