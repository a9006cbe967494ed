import { createEc2Emulator, type Ec2Emulator, type Ec2EmulatorOptions } from "@millwright/emulators/ec2";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, startCloudInstallation } from "./cloud-installation.ts";

const providerSpec = {
  ami: "ami-1",
  region: "eu-west-1",
  machineType: "m5.large",
  srcAndDstChecksEnabled: false,
  iam: { name: "nodes" },
  blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
  tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
};
const firstKey = { accessKeyID: "AKIA1", secretAccessKey: "first-secret" };
const secondKey = { accessKeyID: "AKIA2", secretAccessKey: "second-secret" };
const userData = "boot <<MACHINE_NAME>>";
const nothing = { instances: [], volumes: [], networkInterfaces: [] };

describe("millwright run on EC2", () => {
  let ec2: Ec2Emulator;
  let installation: CloudInstallation;

  const start = async (options: Ec2EmulatorOptions = {}): Promise<void> => {
    ec2 = createEc2Emulator({
      pendingMs: 200,
      nameMs: 100,
      shutdownMs: 300,
      visibilityMs: 50,
      latencyMs: 10,
      accessKeys: { AKIA1: { secretAccessKey: "first-secret", account: "1" } },
      images: { "ami-1": { rootDeviceName: "/dev/xvda" }, "ami-2": { rootDeviceName: "/dev/xvda" } },
      ...options,
    });
    const { url } = await ec2.listen();
    installation = await startCloudInstallation({
      provider: "aws",
      providerSpec,
      secret: { ...firstKey, userData },
      env: { AWS_ENDPOINT_URL_EC2: url, AWS_EC2_METADATA_DISABLED: "true" },
      vms: () =>
        ec2
          .inventory()
          .instances.filter(({ state }) => state === "running" || state === "shutting-down")
          .map(({ id, privateDnsName }) => ({ nodeName: privateDnsName, providerId: `aws:///eu-west-1/${id}` })),
    });
  };
  afterEach(async () => {
    await installation.close();
    await ec2.close();
    if (ec2.failures.length > 0) throw new Error("the emulator failed", { cause: ec2.failures[0] });
  });

  /** Machines that have other than one VM; none of them is what has to be. */
  const oddMachines = async (): Promise<readonly string[]> => {
    const names = ec2.inventory().instances.map(({ tags }) => tags.get("Name"));
    return (await installation.machines())
      .map(({ metadata }) => metadata.name)
      .filter((machine) => names.filter((name) => name === machine).length !== 1);
  };
  /** Every VM that was ever made, by machine. */
  const launches = (): number => [...ec2.world.instances.values()].length;

  it("makes 20 machines, rolls them, scales down, deletes them, and leaves nothing behind", async () => {
    await start();
    installation.run();
    await installation.deploy(20);
    await installation.untilRunning(20);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(20);
    const booted = ec2
      .inventory()
      .instances.map(({ userData: bytes, tags }) => [Buffer.from(bytes, "base64").toString(), tags.get("Name")]);
    expect(booted.every(([text, name]) => text === `boot ${name}`)).toBe(true);
    // The source check is off on every one.
    await eventually(async () => {
      expect(ec2.inventory().networkInterfaces.filter(({ sourceDestCheck }) => sourceDestCheck)).toEqual([]);
    });

    await installation.declareClass("newer", { ...providerSpec, ami: "ami-2" });
    await installation.change({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
      minReadySeconds: 0,
      template: { spec: { class: { kind: "MachineClass", name: "newer" } } },
    });
    await eventually(async () => {
      const images = ec2.inventory().instances.map(({ imageId }) => imageId);
      expect(images).toEqual(Array.from({ length: 20 }, () => "ami-2"));
    }, 90_000);
    await installation.untilRunning(20);

    await installation.change({ replicas: 5 });
    await installation.untilRunning(5);
    await eventually(async () => expect(ec2.inventory().instances).toHaveLength(5));
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(ec2.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine although any call may fail, before or after it had its effect", async () => {
    await start();
    for (const afterAcceptance of [false, true]) {
      for (const end of [
        { kind: "reset" },
        { kind: "refuse", refusal: { code: "InternalError" } },
        { kind: "refuse", refusal: { code: "RequestLimitExceeded" } },
        { kind: "reply", reply: { status: 502, body: "<html>" } },
      ] as const) {
        ec2.faults.add({ operation: "*", probability: 0.06, times: 15, end, afterAcceptance });
      }
    }
    installation.run();
    await installation.deploy(10);
    await installation.untilRunning(10, 120_000);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(10);
    expect(ec2.faults.strikes).toBeGreaterThan(5);
    ec2.faults.clear();
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(ec2.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine when it is killed while it makes them, again and again", async () => {
    await start({ latencyMs: 40, visibilityMs: 400 });
    let current = installation.run();
    await installation.deploy(10);
    for (const launched of [1, 4, 8]) {
      await eventually(async () => expect(launches()).toBeGreaterThanOrEqual(launched), 60_000);
      await current.stop("SIGKILL");
      current = installation.run();
    }
    await installation.untilRunning(10);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(10);
  });

  it("goes on with new credentials when the old ones end while it makes machines", async () => {
    await start({ latencyMs: 40 });
    installation.run();
    await installation.deploy(30);
    await eventually(async () => expect(launches()).toBeGreaterThan(3), 60_000);
    ec2.world.accessKeys?.set("AKIA2", { secretAccessKey: "second-secret", account: "1" });
    ec2.world.accessKeys?.delete("AKIA1");
    await eventually(async () => {
      const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
      expect(codes).toContain("Unauthenticated");
    });
    await installation.setSecret(secondKey);
    await installation.untilRunning(30);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(30);
  });

  it("replaces a machine whose spot VM was reclaimed", async () => {
    await start();
    await installation.deploy(3);
    await installation.change({ template: { spec: { healthTimeout: "3s" } } });
    installation.run();
    await installation.untilRunning(3);
    const [first] = ec2.inventory().instances;
    const lost = first?.tags.get("Name");
    ec2.reclaim(first?.id ?? "");
    await eventually(async () => {
      const names = (await installation.machines()).map(({ metadata }) => metadata.name);
      expect(names).not.toContain(lost);
    }, 60_000);
    await installation.untilRunning(3);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(4);
  });
});
