import type { NodeTemplate } from "@millwright/core";
import { describeDriftAndCapacity } from "./drift-scenario.ts";
import { ec2Spec, startOnEc2 } from "./ec2-cloud.ts";

const aType = (name: string, cpu: number, memory: string, architecture = "amd64") => ({
  name,
  nodeTemplate: {
    architecture,
    capacity: { cpu, gpu: 0, memory },
    instanceType: name,
    region: ec2Spec.region,
    zone: "eu-west-1a",
  } satisfies NodeTemplate,
});

describeDriftAndCapacity("EC2", async () => {
  const { ec2, installation, close } = await startOnEc2({}, { tags: { ...ec2Spec.tags, team: "red" } });
  const instanceOf = (machine: string) => {
    const found = ec2.inventory().instances.find(({ tags }) => tags.get("Name") === machine);
    if (found === undefined) throw new Error(`machine ${machine} has no VM`);
    return found;
  };
  return {
    installation,
    close,
    // The class names the driver, and the environment leads it to the emulator.
    flags: [],
    types: {
      first: aType("m5.large", 2, "8192Mi"),
      other: aType("m6g.large", 2, "8192Mi", "arm64"),
      larger: aType("m5.xlarge", 4, "16384Mi"),
    },
    typeField: "machineType",
    specOf: (machineType) => ({ machineType }),
    capacityRequests: () => ec2.log.count("DescribeInstanceTypes"),
    vms: () =>
      ec2.inventory().instances.map(({ tags, instanceType }) => ({
        machine: tags.get("Name") ?? "",
        type: instanceType,
      })),
    spoil(machine) {
      instanceOf(machine).tags.set("team", "blue");
      return { field: "tags.team", wanted: "red", found: "blue" };
    },
    lose: (machine) => ec2.reclaim(instanceOf(machine).id),
  };
});
