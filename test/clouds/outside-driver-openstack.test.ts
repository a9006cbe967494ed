import { expect, it, onTestFinished } from "vitest";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, startCloudInstallation } from "./cloud-installation.ts";
import { openstackClass, type OpenstackCloud, openstackSecret, startOpenstackCloud } from "./openstack-cloud.ts";
import { checkAtAddress, type OutsideDriver, startOutsideDriver } from "./outside-driver.ts";

const path = await findBuilt("openstack-driver");

/** A driver of others, in Go: Gardener's for OpenStack, which drivers/go has built without a change of any of its files. */
async function openstackDriver(): Promise<{ readonly driver: OutsideDriver; readonly cloud: OpenstackCloud }> {
  const cloud = await startOpenstackCloud();
  onTestFinished(() => cloud.close());
  const args = (socket: string) => [`--socket=${socket}`, "--provider=OpenStack", "--namespace=default"];
  const driver = await startOutsideDriver({ path: path ?? "", args });
  onTestFinished(() => driver.close());
  return { driver, cloud };
}

async function installationOf({
  driver,
  cloud,
}: Awaited<ReturnType<typeof openstackDriver>>): Promise<CloudInstallation> {
  const installation = await startCloudInstallation({
    provider: "OpenStack",
    driver: driver.address,
    providerSpec: openstackClass,
    secret: openstackSecret(cloud.authUrl, "boot <<MACHINE_NAME>>"),
    env: {},
    instances: cloud.instances,
  });
  onTestFinished(() => installation.close());
  return installation;
}

it.skipIf(path === undefined)(
  "Gardener's driver for OpenStack runs machines, also after it was killed, and deletes them",
  async () => {
    const parts = await openstackDriver();
    const { cloud, driver } = parts;
    const installation = await installationOf(parts);
    installation.run();
    await installation.deploy(3);
    await installation.untilRunning(3);
    await driver.restart();
    await installation.change({ replicas: 4 });
    await installation.untilRunning(4);
    const names = (await installation.machines()).map(({ metadata }) => metadata.name);
    const booted = cloud.servers().map(({ userData }) => Buffer.from(userData, "base64").toString());
    expect(booted.toSorted()).toEqual(names.map((name) => `boot ${name}`).toSorted());
    await installation.remove();
    await installation.untilGone();
    expect(cloud.servers()).toEqual([]);
  },
);

it.skipIf(path === undefined)("its failures are those of the cloud, on the machine", async () => {
  const parts = await openstackDriver();
  const installation = await installationOf(parts);
  parts.cloud.fillUp();
  installation.run();
  await installation.deploy(1);
  await eventually(async () => {
    const [machine] = await installation.machines();
    expect(machine?.status?.lastOperation).toMatchObject({
      state: "Failed",
      type: "Create",
      errorCode: "PermissionDenied",
      description: expect.stringContaining("Quota exceeded for instances"),
    });
  }, 60_000);
});

it.skipIf(path === undefined)("conforms, but for GetMachineStatus, which it does not have", async () => {
  const { cloud, driver } = await openstackDriver();
  const { code, output } = await checkAtAddress(driver.address, openstackClass, openstackSecret(cloud.authUrl));
  const failed = [...output.matchAll(/^FAILED\s+(\S+)/gm)].map(([, rule]) => rule);
  expect(failed, output).toEqual([
    "driver.newer-host",
    "status.unknown-machine-is-not-found",
    "status.finds-new-vm",
    "status.other-machines-are-not-found",
    "status.addresses",
  ]);
  expect(output).toMatch(/^ok\s+create\.repeat-returns-same-vm$/m);
  expect(output).toMatch(/^ok\s+delete\.repeat-succeeds$/m);
  expect(output).toContain("The driver does not conform.");
  expect(code).toBe(1);
});
