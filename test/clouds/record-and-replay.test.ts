import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, type SecretData, systemClock } from "@millwright/base";
import { type Driver, type DriverContext, MachineError } from "@millwright/core";
import { aContext, aMachine } from "@millwright/core/testing";
import { createArmEmulator } from "@millwright/emulators/arm";
import { createGceEmulator } from "@millwright/emulators/gce";
import { replayFile } from "@millwright/emulators/replay";
import { createAwsDriver } from "@millwright/provider-aws";
import { createAzureDriver } from "@millwright/provider-azure";
import { createGcpDriver } from "@millwright/provider-gcp";
import { type CloudRecorder, openCloudRecorder } from "@millwright/runtime";
import { expect, onTestFinished, test } from "vitest";
import { patienceMs } from "./cloud-installation.ts";
import { ec2Keys, startOnEc2 } from "./ec2-cloud.ts";
import { type Ec2Server, hasMoto, startEmulator, startMoto } from "./ec2-servers.ts";

const canary = "canary-0123456789abcdef";
const userData = `#!/bin/sh\n# <${canary}> & "more"\nkubeadm join --token ${canary}\n`;

interface RecordedCloud {
  readonly driver: Driver;
  readonly secret: Readonly<Record<string, string>>;
  readonly providerSpec: unknown;
  /** Identifies the owner of the account, and must not be in the file. */
  readonly owner: readonly string[];
}

async function aws(start: () => Promise<Ec2Server> = startEmulator): Promise<RecordedCloud> {
  const { url, ami, subnet, securityGroup, close } = await start();
  onTestFinished(close);
  return {
    driver: createAwsDriver({ endpoint: url }),
    secret: { accessKeyID: "AKIACANARY01", secretAccessKey: canary, userData },
    owner: ["123456789012", "AKIACANARY01"],
    providerSpec: {
      ami,
      region: "eu-west-1",
      machineType: "m5.large",
      iam: { name: "nodes" },
      blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
      networkInterfaces: [{ subnetID: subnet, securityGroupIDs: [securityGroup] }],
      tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
    },
  };
}

async function gcp(): Promise<RecordedCloud> {
  const gce = createGceEmulator();
  onTestFinished(() => gce.close());
  const { url } = await gce.listen();
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const account = {
    type: "service_account",
    project_id: "my-project",
    private_key_id: canary,
    private_key: privateKey,
    client_email: "machines@my-project.iam.gserviceaccount.com",
    client_id: "1",
    token_uri: "https://oauth2.googleapis.com/token",
    universe_domain: "googleapis.com",
  };
  return {
    driver: createGcpDriver({ endpoint: url, pollTimes: { lookAgainMs: 30, pollMs: 10 } }),
    secret: { serviceAccountJSON: JSON.stringify(account), userData },
    owner: ["my-project", "machines@", ...privateKey.trim().split("\n").slice(1, -1)],
    providerSpec: {
      region: "europe-west1",
      zone: "europe-west1-b",
      machineType: "n2-standard-2",
      disks: [{ boot: true, type: "pd-balanced", sizeGb: 50, image: "projects/images/global/images/node-1" }],
      networkInterfaces: [{ subnetwork: "nodes", disableExternalIP: true }],
      scheduling: { onHostMaintenance: "MIGRATE", automaticRestart: true },
      tags: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-node"],
    },
  };
}

const subscription = "0f0e0d0c-1111-2222-3333-444455556666";

async function azure(): Promise<RecordedCloud> {
  const arm = createArmEmulator();
  onTestFinished(() => arm.close());
  const { url } = await arm.listen();
  return {
    driver: createAzureDriver({ endpoint: url, ca: arm.ca, pollMs: 5 }),
    secret: {
      clientID: "aaaabbbb-1111-2222-3333-444455556666",
      clientSecret: canary,
      subscriptionID: subscription,
      tenantID: "ccccdddd-1111-2222-3333-444455556666",
      userData,
    },
    owner: [subscription, "aaaabbbb-1111", "ccccdddd-1111"],
    providerSpec: {
      location: "westeurope",
      resourceGroup: "shoot",
      subnetInfo: { vnetName: "vnet", subnetName: "nodes" },
      tags: { "kubernetes.io-cluster-shoot": "1", "kubernetes.io-role-node": "1" },
      properties: {
        hardwareProfile: { vmSize: "Standard_D2s_v5" },
        storageProfile: {
          imageReference: { urn: "canonical:ubuntu:24_04:latest" },
          osDisk: { createOption: "FromImage", diskSizeGB: 30 },
        },
        osProfile: {
          adminUsername: "core",
          linuxConfiguration: { ssh: { publicKeys: { keyData: "ssh-rsa AAAA" } } },
        },
        zone: 1,
      },
    },
  };
}

const secretOf = (data: Readonly<Record<string, string>>): SecretData =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Secret.of(value)]));

/** The calls of a host for one machine, from its creation to its deletion. */
async function recordMachine(cloud: RecordedCloud, recorder: CloudRecorder): Promise<void> {
  const { driver, providerSpec } = cloud;
  const spec = await driver.spec["~standard"].validate(providerSpec);
  if (spec.issues !== undefined) throw new Error(`the class is wrong: ${JSON.stringify(spec.issues)}`);
  const secret = secretOf(cloud.secret);
  recorder.protect(secret);
  const context: DriverContext = {
    ...aContext(),
    recordExchange: (exchange) => recorder.record(driver.name, exchange),
  };
  const request = { machine: aMachine("m"), machineClass: { name: "pool", spec: spec.value }, secret };
  const missing = await driver.getMachineStatus(request, context).catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(MachineError);
  await driver.createMachine({ ...request, idempotencyToken: "token-1", userData: Secret.of(userData) }, context);
  await driver.initializeMachine?.(request, context);
  await driver.getMachineStatus(request, context);
  await driver.listMachines?.(request, context);
  await driver.findDrift?.(request, context);
  await driver.getNodeTemplate?.(request, context);
  await driver.deleteMachine(request, context);
}

/** A file that does not exist yet. */
async function aFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "recording-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "cloud.jsonl");
}

/** Records a machine into a file. */
async function recordTo(file: string, cloud: RecordedCloud): Promise<void> {
  const recorder = await openCloudRecorder({ file, clock: systemClock, log: () => undefined });
  await recordMachine(cloud, recorder);
  await recorder.close();
}

test.each([
  ["aws", () => aws()],
  ["gcp", gcp],
  ["azure", azure],
])("a recording of %s holds no secret, and the emulator answers it as it did", async (name, start) => {
  const [file, cloud] = [await aFile(), await start()];
  await recordTo(file, cloud);

  const text = await readFile(file, "utf8");
  const pieces = [0, 1, 2].map((offset) => Buffer.from(canary).subarray(offset).toString("base64").slice(0, 16));
  for (const hidden of [canary, ...pieces, Buffer.from(canary).toString("hex"), "kubeadm join", ...cloud.owner]) {
    expect(text.toLowerCase()).not.toContain(hidden.toLowerCase());
  }
  expect(text).toMatch(/(<|%3C)user-data-1(>|%3E)/);
  expect(text).not.toContain("user-data-2");

  const exchanges = (await replayFile(file)).get(name) ?? [];
  expect(exchanges.filter(({ skipped }) => skipped === undefined).length).toBeGreaterThan(5);
  expect(exchanges.filter(({ skipped }) => skipped !== undefined && skipped !== "login")).toEqual([]);
  expect(exchanges.filter(({ differences }) => differences.length > 0)).toEqual([]);
});

test.runIf(hasMoto)("a recording of moto shows where the EC2 emulator responds differently", async () => {
  const file = await aFile();
  await recordTo(file, await aws(startMoto));
  const exchanges = (await replayFile(file)).get("aws") ?? [];
  expect(exchanges.filter(({ skipped }) => skipped !== undefined)).toEqual([]);
  expect(exchanges.find(({ request }) => request.endsWith("RunInstances"))?.differences).toContainEqual({
    field: "RunInstancesResponse.instancesSet[].architecture",
    cloud: "text",
    emulator: "absent",
  });
  // The emulator has fewer fields; common ones have the same type, and the status is the same.
  const contradictions = exchanges
    .flatMap(({ differences }) => differences)
    .filter(({ cloud, emulator }) => cloud !== "absent" && emulator !== "absent");
  expect(contradictions).toEqual([]);
});

test(
  "millwright run records the exchange of its driver and the cloud until it stops",
  { timeout: patienceMs },
  async () => {
    // VMs are in the lists at once: a replay has other timing, and a lagging response would differ.
    const [file, { installation, close }] = [await aFile(), await startOnEc2({ visibilityMs: 0 })];
    onTestFinished(close);
    const controllers = installation.run(`--record-cloud=${file}`);
    await installation.deploy(1);
    await installation.untilRunning(1);
    expect(await controllers.stop()).toBe(0);
    const text = await readFile(file, "utf8");
    expect(text).toContain("Action=RunInstances");
    for (const secret of Object.values(ec2Keys)) expect(text).not.toContain(secret);
    expect(text).toMatch(/UserData=%3Cuser-data-\d%3E/);
    const exchanges = (await replayFile(file)).get("aws") ?? [];
    expect(exchanges.filter(({ skipped, differences }) => skipped !== undefined || differences.length > 0)).toEqual([]);
  },
);
