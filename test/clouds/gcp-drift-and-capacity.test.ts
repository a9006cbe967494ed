import { fileURLToPath } from "node:url";
import { describeDriftAndCapacity } from "./drift-scenario.ts";
import { gceSpec, startOnGce } from "./gce-cloud.ts";

describeDriftAndCapacity("Compute Engine", async () => {
  const { gce, installation, close } = await startOnGce({}, { labels: { team: "red" } });
  return {
    installation,
    close,
    flags: ["--provider", fileURLToPath(new URL("gcp-on-emulator.ts", import.meta.url))],
    place: { region: gceSpec.region, zone: gceSpec.zone },
    types: {
      first: { name: "n2-standard-2", cpu: 2, memory: "8192Mi", architecture: "amd64" },
      other: { name: "t2a-standard-2", cpu: 2, memory: "8192Mi", architecture: "arm64" },
      larger: { name: "n2-standard-4", cpu: 4, memory: "16384Mi", architecture: "amd64" },
    },
    typeField: "machineType",
    specOf: (machineType) => ({ machineType }),
    capacityRequests: () => gce.log.count("machineTypes.get"),
    vms: () =>
      gce.inventory().instances.map(({ name, resource: { machineType } }) => ({
        machine: name,
        type: machineType.slice(machineType.lastIndexOf("/") + 1),
      })),
    changeMark(machine) {
      for (const vm of gce.world.instances.values()) {
        if (vm.name !== machine) continue;
        vm.resource = { ...vm.resource, labels: { ...vm.resource.labels, team: "blue" } };
      }
      return { field: "labels.team", wanted: "red", found: "blue" };
    },
    deleteVm: (machine) => gce.remove(machine),
  };
});
