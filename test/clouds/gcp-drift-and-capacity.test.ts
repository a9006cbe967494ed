import { fileURLToPath } from "node:url";
import type { NodeTemplate } from "@millwright/core";
import { describeDriftAndCapacity } from "./drift-scenario.ts";
import { gceSpec, startOnGce } from "./gce-cloud.ts";

const aType = (name: string, cpu: number, memory: string, architecture = "amd64") => ({
  name,
  nodeTemplate: {
    architecture,
    capacity: { cpu, gpu: 0, memory },
    instanceType: name,
    region: gceSpec.region,
    zone: gceSpec.zone,
  } satisfies NodeTemplate,
});

describeDriftAndCapacity("Compute Engine", async () => {
  const { gce, installation, close } = await startOnGce({}, { labels: { team: "red" } });
  return {
    installation,
    close,
    flags: ["--provider", fileURLToPath(new URL("gcp-on-emulator.ts", import.meta.url))],
    types: {
      first: aType("n2-standard-2", 2, "8192Mi"),
      other: aType("t2a-standard-2", 2, "8192Mi", "arm64"),
      larger: aType("n2-standard-4", 4, "16384Mi"),
    },
    typeField: "machineType",
    specOf: (machineType) => ({ machineType }),
    capacityRequests: () => gce.log.count("machineTypes.get"),
    vms: () =>
      gce.inventory().instances.map(({ name, resource: { machineType } }) => ({
        machine: name,
        type: machineType.slice(machineType.lastIndexOf("/") + 1),
      })),
    spoil(machine) {
      for (const vm of gce.world.instances.values()) {
        if (vm.name !== machine) continue;
        vm.resource = { ...vm.resource, labels: { ...vm.resource.labels, team: "blue" } };
      }
      return { field: "labels.team", wanted: "red", found: "blue" };
    },
    lose: (machine) => gce.remove(machine),
  };
});
