import { type MachineClass, machineClassResource } from "@millwright/core";
import { createEc2Emulator, type Ec2Emulator } from "@millwright/emulators/ec2";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, startCloudInstallation } from "./cloud-installation.ts";

const providerSpec = {
  ami: "ami-1",
  region: "eu-west-1",
  machineType: "m5.large",
  iam: { name: "nodes" },
  blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
  tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1", team: "red" },
};
const ref = { namespace: "default", name: "pool" };

describe("classes and their VMs on EC2", () => {
  let ec2: Ec2Emulator;
  let installation: CloudInstallation;

  beforeEach(async () => {
    ec2 = createEc2Emulator({ pendingMs: 200, nameMs: 100, shutdownMs: 300 });
    const { url } = await ec2.listen();
    installation = await startCloudInstallation({
      driver: "aws",
      provider: "AWS",
      providerSpec,
      secret: { accessKeyID: "AKIA1", secretAccessKey: "first-secret", userData: "boot" },
      env: { AWS_ENDPOINT_URL_EC2: url, AWS_EC2_METADATA_DISABLED: "true" },
      vms: () =>
        ec2
          .inventory()
          .instances.filter(({ state }) => state === "running")
          .map(({ id, privateDnsName }) => ({ nodeName: privateDnsName, providerId: `aws:///eu-west-1/${id}` })),
    });
  });
  afterEach(async () => {
    await installation.close();
    await ec2.close();
    if (ec2.failures.length > 0) throw new Error("the emulator failed", { cause: ec2.failures[0] });
  });

  const pool = (): Promise<MachineClass> => installation.api.get<MachineClass>(machineClassResource, ref);
  const change = (patch: object): Promise<unknown> =>
    installation.api.patch(machineClassResource, ref, patch, { kind: "merge" });
  const asked = (): number => ec2.log.requests.filter(({ operation }) => operation === "DescribeInstanceTypes").length;
  const capacityOf = async (): Promise<unknown> => (await pool()).nodeTemplate?.capacity;

  it("tells the autoscaler what a node will have, asks once for each version of a class, and leaves what people write", async () => {
    installation.run();
    const medium = { cpu: 2, gpu: 0, memory: "8192Mi" };
    await eventually(async () => expect(await capacityOf()).toEqual(medium));
    expect((await pool()).nodeTemplate).toEqual({
      architecture: "amd64",
      capacity: medium,
      instanceType: "m5.large",
      region: "eu-west-1",
      zone: "eu-west-1a",
    });
    expect(asked()).toBe(1);

    await change({ providerSpec: { machineType: "m6g.large" } });
    await eventually(async () => expect((await pool()).nodeTemplate?.architecture).toBe("arm64"));
    expect(asked()).toBe(2);

    await change({ nodeTemplate: { capacity: { cpu: 1 } } });
    await eventually(async () => expect(Object.keys((await pool()).metadata.annotations ?? {})).toEqual([]));
    await change({ providerSpec: { machineType: "m5.xlarge" } });
    // A machine of the class is made with the new type: so the controllers have seen the change.
    await installation.deploy(1);
    await installation.untilRunning(1);
    expect(ec2.inventory().instances.map(({ instanceType }) => instanceType)).toEqual(["m5.xlarge"]);
    expect(await capacityOf()).toMatchObject({ cpu: 1 });
    expect(asked()).toBe(2);
  });

  it("shows which VMs are not what their class asks for, field by field, and why one cannot be compared", async () => {
    const controllers = installation.run();
    await installation.deploy(3);
    await installation.untilRunning(3);
    await controllers.stop();
    const drift = () => installation.command("drift", "--deployment", "fleet");
    expect(await drift()).toEqual({ code: 0, output: "0 of 3 machines drifted.\n" });

    const [first, second] = ec2.inventory().instances;
    ec2.world.instances.get(first?.id ?? "")?.tags.set("team", "blue");
    await change({ providerSpec: { machineType: "m5.xlarge" } });
    const { code, output } = await installation.command("drift", "-o", "json");
    expect(code).toBe(2);
    const type = { field: "machineType", wanted: "m5.xlarge", found: "m5.large" };
    const { machines }: { machines: readonly { machine: string; differences: unknown }[] } = JSON.parse(output);
    expect(machines.map(({ machine, differences }) => [machine, differences])).toEqual(
      machines.map(({ machine }) => [
        machine,
        machine === first?.tags.get("Name") ? [type, { field: "tags.team", wanted: "red", found: "blue" }] : [type],
      ]),
    );

    ec2.reclaim(second?.id ?? "");
    const missing = second?.tags.get("Name") ?? "";
    await eventually(async () => {
      const one = await installation.command("drift", missing);
      expect(one).toMatchObject({ code: 1, output: expect.stringContaining(`${missing} (class pool`) });
      expect(one.output).toContain("NotFound");
    });
  });
});
