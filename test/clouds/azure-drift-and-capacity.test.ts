import { fileURLToPath } from "node:url";
import { startOnArm } from "./arm-cloud.ts";
import { describeDriftAndCapacity } from "./drift-scenario.ts";

const tag = "kubernetes.io-role-node";

describeDriftAndCapacity("Azure", async () => {
  const { arm, installation, close } = await startOnArm();
  return {
    installation,
    close,
    flags: ["--provider", fileURLToPath(new URL("azure-on-emulator.ts", import.meta.url))],
    place: { region: "westeurope", zone: "westeurope-1" },
    types: {
      first: { name: "Standard_D2s_v5", cpu: 2, memory: "8192Mi", architecture: "amd64" },
      other: { name: "Standard_D2ps_v5", cpu: 2, memory: "8192Mi", architecture: "arm64" },
      larger: { name: "Standard_D4s_v5", cpu: 4, memory: "16384Mi", architecture: "amd64" },
    },
    typeField: "properties.hardwareProfile.vmSize",
    specOf: (vmSize) => ({ properties: { hardwareProfile: { vmSize } } }),
    capacityRequests: () => arm.log.count("ResourceSkus_List"),
    hasOneList: true,
    vms: () =>
      arm.inventory().vms.map(({ name, body }) => ({ machine: name, type: body.properties.hardwareProfile.vmSize })),
    changeMark(machine) {
      const vm = arm.vm(machine);
      vm.tags = { ...vm.tags, [tag]: "2" };
      return { field: `tags.${tag}`, wanted: "1", found: "2" };
    },
    deleteVm: (machine) => arm.remove(machine),
  };
});
