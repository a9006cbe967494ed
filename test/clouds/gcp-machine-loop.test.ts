import { generateKeyPairSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type MachineClass, machineClassResource } from "@millwright/core";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "@millwright/emulators/gce";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, startCloudInstallation } from "./cloud-installation.ts";

const providerSpec = {
  region: "europe-west1",
  zone: "europe-west1-b",
  machineType: "n2-standard-2",
  disks: [{ boot: true, type: "pd-balanced", sizeGb: 50, image: "projects/images/global/images/node-1" }],
  networkInterfaces: [{ network: "shoot", subnetwork: "nodes", disableExternalIP: true }],
  scheduling: { onHostMaintenance: "MIGRATE", automaticRestart: true },
  tags: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-node"],
};
const userData = "boot <<MACHINE_NAME>>";
const nothing = { instances: [], disks: [] };

/** A service account, and what the emulator has to know of it. */
function anAccount(name: string) {
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const email = `${name}@my-project.iam.gserviceaccount.com`;
  const json = {
    type: "service_account",
    project_id: "my-project",
    private_key: keys.privateKey,
    client_email: email,
    token_uri: "https://oauth2.googleapis.com/token",
  };
  return { email, publicKey: keys.publicKey, secret: { serviceAccountJSON: JSON.stringify(json) } };
}
const first = anAccount("first");
const second = anAccount("second");

describe("millwright run on Compute Engine", () => {
  let gce: GceEmulator;
  let installation: CloudInstallation;

  const start = async (options: GceEmulatorOptions = {}, spec: object = providerSpec): Promise<void> => {
    gce = createGceEmulator({
      operationMs: 300,
      provisioningMs: 150,
      stagingMs: 100,
      stoppingMs: 100,
      latencyMs: 10,
      serviceAccounts: { [first.email]: first.publicKey },
      ...options,
    });
    const { url } = await gce.listen();
    installation = await startCloudInstallation({
      provider: "gcp",
      driver: fileURLToPath(new URL("gcp-on-emulator.ts", import.meta.url)),
      providerSpec: { ...spec },
      secret: { ...first.secret, userData },
      env: { GCE_EMULATOR: url },
      vms: () =>
        gce
          .inventory()
          .instances.filter(({ status }) => status === "RUNNING" || status === "STOPPING")
          .map(({ name, project, zone }) => ({ nodeName: name, providerId: `gce:///${project}/${zone}/${name}` })),
    });
  };
  afterEach(async () => {
    await installation.close();
    await gce.close();
    if (gce.failures.length > 0) throw new Error("the emulator failed", { cause: gce.failures[0] });
  });

  /** Machines that have other than one VM; none of them is what has to be. */
  const oddMachines = async (): Promise<readonly string[]> => {
    const names = gce.inventory().instances.map(({ name }) => name);
    return (await installation.machines())
      .map(({ metadata }) => metadata.name)
      .filter((machine) => names.filter((name) => name === machine).length !== 1);
  };
  /** Every VM that was ever made. */
  const launches = (): number =>
    [...gce.world.operations.values()].filter(({ operationType }) => operationType === "insert").length;

  it("makes 20 machines, rolls them, scales down, deletes them, and leaves nothing behind", async () => {
    await start();
    installation.run();
    await installation.deploy(20);
    await installation.untilRunning(20);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(20);
    for (const { name, resource } of gce.inventory().instances) {
      expect(resource.metadata.items).toEqual([{ key: "startup-script", value: `boot ${name}` }]);
    }

    await eventually(async () => {
      const pool = await installation.api.get<MachineClass>(machineClassResource, {
        namespace: "default",
        name: "pool",
      });
      expect(pool.nodeTemplate?.capacity).toEqual({ cpu: 2, gpu: 0, memory: "8192Mi" });
    });

    const image = "projects/images/global/images/node-2";
    await installation.declareClass("newer", { ...providerSpec, disks: [{ ...providerSpec.disks[0], image }] });
    await installation.change({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
      minReadySeconds: 0,
      template: { spec: { class: { kind: "MachineClass", name: "newer" } } },
    });
    await eventually(async () => {
      const images = gce.inventory().instances.map(({ resource }) => resource.disks[0]?.initializeParams?.sourceImage);
      expect(images).toEqual(Array.from({ length: 20 }, () => image));
    }, 90_000);
    await installation.untilRunning(20);

    await installation.change({ replicas: 5 });
    await installation.untilRunning(5);
    await eventually(async () => expect(gce.inventory().instances).toHaveLength(5));
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(gce.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine although any call may fail, before or after it had its effect", async () => {
    await start();
    for (const afterAcceptance of [false, true]) {
      for (const end of [
        { kind: "reset" },
        { kind: "refuse", refusal: { code: "internalError" } },
        { kind: "refuse", refusal: { code: "rateLimitExceeded" } },
        { kind: "reply", reply: { status: 502, body: "<html>" } },
      ] as const) {
        gce.faults.add({ operation: "*", probability: 0.06, times: 15, end, afterAcceptance });
      }
    }
    installation.run();
    await installation.deploy(10);
    await installation.untilRunning(10, 120_000);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(10);
    expect(gce.faults.strikes).toBeGreaterThan(5);
    gce.faults.clear();
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(gce.inventory()).toEqual(nothing));
  });

  it("makes one VM for each machine when it is killed while it makes them, again and again", async () => {
    await start({ latencyMs: 40, operationMs: 1_500, provisioningMs: 1_000, stagingMs: 400 });
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
    gce.world.serviceAccounts?.set(second.email, second.publicKey);
    gce.world.serviceAccounts?.delete(first.email);
    gce.world.accessTokens.clear();
    await eventually(async () => {
      const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
      expect(codes).toContain("Unauthenticated");
    });
    await installation.setSecret(second.secret);
    await installation.untilRunning(30);
    expect(await oddMachines()).toEqual([]);
    expect(launches()).toBe(30);
  });

  it("goes to another zone where there is no capacity, and finds its machines there", async () => {
    await start({}, { ...providerSpec, fallbacks: [{ zone: "europe-west1-c" }] });
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 2);
    installation.run();
    await installation.deploy(5);
    await installation.untilRunning(5);
    expect(await oddMachines()).toEqual([]);
    const zones = gce.inventory().instances.map(({ zone }) => zone);
    expect(zones.toSorted()).toEqual(["b", "b", "c", "c", "c"].map((zone) => `europe-west1-${zone}`));
    await installation.remove();
    await installation.untilGone();
    await eventually(async () => expect(gce.inventory()).toEqual(nothing));
  });

  it("replaces a machine whose spot VM was reclaimed, and removes what is left of it", async () => {
    const scheduling = { provisioningModel: "SPOT", onHostMaintenance: "TERMINATE" };
    await start({}, { ...providerSpec, scheduling });
    await installation.deploy(3);
    await installation.change({ template: { spec: { healthTimeout: "3s" } } });
    installation.run();
    await installation.untilRunning(3);
    const lost = gce.inventory().instances[0]?.name ?? "";
    gce.reclaim(lost);
    await eventually(async () => {
      const names = (await installation.machines()).map(({ metadata }) => metadata.name);
      expect(names).not.toContain(lost);
    }, 60_000);
    await installation.untilRunning(3);
    expect(await oddMachines()).toEqual([]);
    await eventually(async () => expect(gce.inventory().instances).toHaveLength(3));
    expect(gce.inventory().disks).toHaveLength(3);
    expect(launches()).toBe(4);
  });
});
