import { describeDriftAndCapacity } from "./drift-scenario.ts";
import { ec2Spec, startOnEc2 } from "./ec2-cloud.ts";

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
    place: { region: ec2Spec.region, zone: "eu-west-1a" },
    types: {
      first: { name: "m5.large", cpu: 2, memory: "8192Mi", architecture: "amd64" },
      other: { name: "m6g.large", cpu: 2, memory: "8192Mi", architecture: "arm64" },
      larger: { name: "m5.xlarge", cpu: 4, memory: "16384Mi", architecture: "amd64" },
    },
    typeField: "machineType",
    specOf: (machineType) => ({ machineType }),
    capacityRequests: () => ec2.log.count("DescribeInstanceTypes"),
    vms: () =>
      ec2.inventory().instances.map(({ tags, instanceType }) => ({
        machine: tags.get("Name") ?? "",
        type: instanceType,
      })),
    changeMark(machine) {
      instanceOf(machine).tags.set("team", "blue");
      return { field: "tags.team", wanted: "red", found: "blue" };
    },
    deleteVm: (machine) => ec2.reclaim(instanceOf(machine).id),
  };
});
