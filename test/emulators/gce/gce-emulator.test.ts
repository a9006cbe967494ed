import { DisksClient } from "@google-cloud/compute/build/src/v1/disks_client.js";
import { InstancesClient } from "@google-cloud/compute/build/src/v1/instances_client.js";
import { MachineTypesClient } from "@google-cloud/compute/build/src/v1/machine_types_client.js";
import { ZoneOperationsClient } from "@google-cloud/compute/build/src/v1/zone_operations_client.js";
import { createVirtualClock } from "@millwright/core/testing";
import { OAuth2Client } from "google-auth-library";
import { afterEach, describe, expect, it } from "vitest";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "./index.ts";

// The first client reads 12 MB of descriptions: not within the timeout of the first test.
await new InstancesClient({ projectId: "none", authClient: new OAuth2Client() }).close();

/** Deliberate differences from Google's model. */
const onPurpose: RegExp[] = [];
const emulators: GceEmulator[] = [];
afterEach(async () => {
  const expected = onPurpose.splice(0);
  for (const emulator of emulators.splice(0)) {
    await emulator.close();
    const failure = emulator.failures.find((one) => !expected.some((pattern) => pattern.test(String(one))));
    if (failure !== undefined) throw new Error("the emulator failed", { cause: failure });
  }
});

const place = { project: "my-project", zone: "europe-west1-b" };
/** The timeout only catches hangs. */
const once = { timeout: 60_000, retry: null };

/** The unmodified SDK, and a cloud for it. */
async function aGce(options: GceEmulatorOptions = {}) {
  const emulator = createGceEmulator(options);
  emulators.push(emulator);
  const { url } = await emulator.listen();
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: emulator.token(), expiry_date: Date.now() + 3_600_000 });
  const clientOptions = {
    apiEndpoint: "127.0.0.1",
    port: Number(new URL(url).port),
    protocol: "http",
    projectId: place.project,
    authClient,
  };
  const instances = new InstancesClient(clientOptions);
  const disks = new DisksClient(clientOptions);
  const operations = new ZoneOperationsClient(clientOptions);
  const types = new MachineTypesClient(clientOptions);
  const insert = async (change: object = {}, requestId?: string) => {
    const instanceResource = { ...anInstance, ...change };
    const [{ latestResponse }] = await instances.insert(
      { ...place, instanceResource, ...(requestId === undefined ? {} : { requestId }) },
      once,
    );
    return shown(latestResponse);
  };
  const get = async (instance = "m") => (await instances.get({ ...place, instance }, once))[0];
  return { emulator, url, instances, disks, operations, types, insert, get };
}

/** An operation of the SDK; its types know too little of those that come back from an insertion. */
const shown = (operation: unknown): Readonly<Record<string, unknown>> =>
  typeof operation === "object" && operation !== null ? { ...operation } : {};

const anInstance = {
  name: "m",
  machineType: "zones/europe-west1-b/machineTypes/n2-standard-2",
  disks: [
    {
      boot: true,
      autoDelete: true,
      type: "PERSISTENT",
      initializeParams: {
        sourceImage: "projects/images/global/images/node-1",
        diskType: "zones/europe-west1-b/diskTypes/pd-ssd",
        diskSizeGb: "50",
      },
    },
  ],
  networkInterfaces: [{ subnetwork: "regions/europe-west1/subnetworks/nodes" }],
  tags: { items: ["kubernetes-io-cluster-shoot"] },
  labels: { a: "b" },
};

const disk = (change: object) => {
  const [boot] = anInstance.disks;
  return { disks: [{ ...boot, initializeParams: { ...boot?.initializeParams, ...change } }] };
};

const requestId = "0c0ffee0-0000-4000-8000-000000000001";

describe("the Compute Engine emulator", () => {
  it("creates an instance with its disk, and shows it", async () => {
    const { insert, get, emulator } = await aGce();
    expect(await insert()).toMatchObject({ status: "DONE", operationType: "insert" });
    expect(await get()).toMatchObject({
      name: "m",
      status: "RUNNING",
      labels: { a: "b" },
      tags: { items: ["kubernetes-io-cluster-shoot"] },
      disks: [{ boot: true, diskSizeGb: "50" }],
      machineType: expect.stringMatching(/zones\/europe-west1-b\/machineTypes\/n2-standard-2$/),
      networkInterfaces: [{ networkIP: expect.stringMatching(/^10\./) }],
    });
    expect(emulator.inventory().disks).toMatchObject([{ name: "m", type: "pd-ssd", sizeGb: 50, autoDelete: true }]);
  });

  it("shows an instance at once, and passes through its states and those of its operations by its clock", async () => {
    const clock = createVirtualClock({ now: new Date() });
    const { insert, get, operations, instances } = await aGce({
      clock,
      operationMs: 30,
      provisioningMs: 10,
      stagingMs: 10,
    });
    const operation = await insert();
    expect([operation["status"], (await get()).status]).toEqual(["PENDING", "PROVISIONING"]);
    await clock.advance(10);
    expect((await get()).status).toBe("STAGING");
    await clock.advance(10);
    expect((await get()).status).toBe("RUNNING");
    const waited = operations.wait({ ...place, operation: String(operation["name"]) }, once);
    await expect.poll(() => clock.pending()).toBe(1);
    await clock.advance(10);
    expect((await waited)[0]).toMatchObject({ status: "DONE", progress: 100 });
    await instances.delete({ ...place, instance: "m" }, once);
    expect((await get()).status).toBe("STOPPING");
    await clock.advance(30);
    await expect(get()).rejects.toMatchObject({ httpStatusCode: 404 });
  });

  it("returns from a wait before a slow operation is done", async () => {
    const { insert, operations } = await aGce({ operationMs: 60_000, waitMs: 20 });
    const { name, id } = await insert();
    const [waited] = await operations.wait({ ...place, operation: String(name) }, once);
    expect(waited.status).toBe("PENDING");
    for (const operation of [String(name), String(id)]) {
      expect((await operations.get({ ...place, operation }, once))[0].name).toBe(name);
    }
  });

  it("deletes disks with autoDelete with their instance, and keeps the others", async () => {
    const { insert, instances, emulator } = await aGce();
    const [boot] = anInstance.disks;
    await insert({ disks: [boot, { ...boot, boot: false, autoDelete: false }] });
    emulator.attachDisk("m", "pv-1");
    expect(emulator.inventory().disks.map(({ name }) => name)).toEqual(["m", "m-1", "pv-1"]);
    await instances.delete({ ...place, instance: "m" }, once);
    const { instances: left, disks } = emulator.inventory();
    expect(left).toEqual([]);
    expect(disks).toMatchObject([
      { name: "m-1", instanceId: undefined },
      { name: "pv-1", instanceId: undefined },
    ]);
  });

  it("returns the same operation for the same request ID", async () => {
    const { insert, instances, emulator } = await aGce();
    const first = await insert({}, requestId);
    expect((await insert({}, requestId))["name"]).toBe(first["name"]);
    expect((await insert({ name: "other" }, requestId))["targetId"]).toBe(first["targetId"]);
    expect(emulator.inventory().instances).toHaveLength(1);
    await instances.delete({ ...place, instance: "m" }, once);
    expect((await insert({}, requestId))["name"]).toBe(first["name"]);
    expect(emulator.inventory().instances).toEqual([]);
    await expect(insert({ name: "n" }, "00000000-0000-0000-0000-000000000000")).rejects.toMatchObject({
      httpStatusCode: 400,
    });
  });

  it("rejects an existing name, and missing references", async () => {
    const { insert, instances } = await aGce();
    await insert();
    await expect(insert()).rejects.toMatchObject({
      httpStatusCode: 409,
      message: expect.stringMatching(/already exists/),
    });
    await expect(instances.delete({ ...place, instance: "none" }, once)).rejects.toMatchObject({ httpStatusCode: 404 });
    const subnetwork = "regions/europe-west1/subnetworks/none";
    await expect(insert({ name: "n", networkInterfaces: [{ subnetwork }] })).rejects.toMatchObject({
      httpStatusCode: 404,
      message: expect.stringContaining(subnetwork),
    });
    const project = "other";
    await expect(instances.get({ ...place, project, instance: "m" }, once)).rejects.toMatchObject({
      httpStatusCode: 404,
    });
  });

  it.each<[string, object, RegExp]>([
    ["a bad name", { name: "M" }, /resource\.name/],
    ["an unknown type", { machineType: "zones/europe-west1-b/machineTypes/x9" }, /does not exist in zone/],
    ["a type of another zone", { machineType: "zones/us-central1-a/machineTypes/n2-standard-2" }, /malformed/],
    ["no disk", { disks: [] }, /Boot disk must be the first/],
    ["a bad label", { labels: { A: "b" } }, /Label key/],
    ["a bad label of a disk", disk({ labels: { a: "B" } }), /Label value/],
    ["a local SSD that is persistent", disk({ diskType: "zones/europe-west1-b/diskTypes/local-ssd" }), /local-ssd/],
    ["two boot disks", { disks: [...anInstance.disks, ...anInstance.disks] }, /Boot disk must be the first/],
    [
      "a subnetwork of another region",
      { networkInterfaces: [{ subnetwork: "projects/my-project/regions/us-central1/subnetworks/nodes" }] },
      /must be in the region/,
    ],
    [
      "a spot VM that is migrated",
      { scheduling: { provisioningModel: "SPOT", onHostMaintenance: "MIGRATE" } },
      /TERMINATE/,
    ],
    ["a bad tag", { tags: { items: ["A"] } }, /resource\.tags/],
    ["a key twice", { metadata: { items: [{ key: "a" }, { key: "a" }] } }, /duplicate keys/],
    ["an unknown field", { resourcePolicies: ["x"] }, /resourcePolicies/],
    [
      "a preemptible VM that restarts",
      { scheduling: { preemptible: true, automaticRestart: true } },
      /automaticRestart/,
    ],
    [
      "a GPU that is migrated",
      { guestAccelerators: [{ acceleratorType: "a", acceleratorCount: 1 }] },
      /live migration/,
    ],
  ])("refuses %s", async (_, change, message) => {
    onPurpose.push(/instances\.insert: request instanceResource\./);
    const { insert, emulator } = await aGce();
    await expect(insert(change)).rejects.toMatchObject({
      httpStatusCode: 400,
      message: expect.stringMatching(message),
    });
    expect(emulator.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("fails an operation without capacity, and leaves no resources", async () => {
    const clock = createVirtualClock({ now: new Date() });
    const { insert, operations, emulator } = await aGce({ clock, operationMs: 20 });
    emulator.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-2/europe-west1-c", 1);
    const { name } = await insert();
    expect(emulator.inventory().instances).toHaveLength(1);
    await clock.advance(20);
    const [done] = await operations.wait({ ...place, operation: String(name) }, once);
    expect(done).toMatchObject({ error: { errors: [{ code: "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS" }] } });
    expect(JSON.stringify(done)).toContain('"zonesAvailable":"europe-west1-c"');
    expect(emulator.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("responds with a completed operation with an error when durations are zero", async () => {
    const { insert, emulator } = await aGce();
    emulator.world.capacity.set("n2-standard-2", 0);
    expect(await insert()).toMatchObject({ status: "DONE", error: { errors: [{}] } });
    expect(emulator.inventory().instances).toEqual([]);
  });

  it("respects a quota", async () => {
    const { insert } = await aGce({ cpuQuota: 3 });
    await insert();
    await expect(insert({ name: "n" })).rejects.toMatchObject({
      httpStatusCode: 403,
      message: "Quota 'CPUS' exceeded.  Limit: 3.0 in region europe-west1.",
    });
  });

  it("lists in pages without gaps and duplicates while instances are deleted", async () => {
    const { insert, instances } = await aGce();
    for (const name of ["a", "b", "c", "d", "e"]) await insert({ name });
    const [first, , answer] = await instances.list({ ...place, maxResults: 2 }, { ...once, autoPaginate: false });
    await instances.delete({ ...place, instance: "a" }, once);
    const [second] = await instances.list(
      { ...place, maxResults: 2, pageToken: String(answer.nextPageToken) },
      { ...once, autoPaginate: false },
    );
    expect([first, second].map((page) => page.map(({ name }) => name))).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    const [filtered] = await instances.list({ ...place, filter: "labels.a=b" }, once);
    expect(filtered).toHaveLength(4);
    await expect(instances.list({ ...place, filter: "a ~ b" }, once)).rejects.toMatchObject({ httpStatusCode: 400 });
  });

  it("lists disks by their labels, and deletes unused ones", async () => {
    const { insert, disks, emulator } = await aGce();
    const [boot] = anInstance.disks;
    const labeled = { ...boot, boot: false, initializeParams: { ...boot?.initializeParams, labels: { a: "b" } } };
    await insert({ disks: [boot, labeled] });
    const [all] = await disks.list(place, once);
    expect(all.map(({ name, sizeGb, users }) => [name, sizeGb, users?.length])).toEqual([
      ["m", "50", 1],
      ["m-1", "50", 1],
    ]);
    await expect(disks.delete({ ...place, disk: "m-1" }, once)).rejects.toMatchObject({
      httpStatusCode: 400,
      message: expect.stringContaining("already being used by"),
    });
    emulator.remove("m", { keepDisks: true });
    const [labeledOnes] = await disks.list({ ...place, filter: 'labels.a="b"' }, once);
    expect(labeledOnes.map(({ name, users }) => [name, users])).toEqual([["m-1", []]]);
    await disks.delete({ ...place, disk: "m-1" }, once);
    await expect(disks.delete({ ...place, disk: "m-1" }, once)).rejects.toMatchObject({ httpStatusCode: 404 });
    expect(emulator.inventory().disks.map(({ name }) => name)).toEqual(["m"]);
  });

  it("rejects requests that the role does not allow, and names the permission", async () => {
    const { insert, get, disks } = await aGce({ permissions: ["compute.instances.get", "compute.instances.create"] });
    await expect(get()).rejects.toMatchObject({ httpStatusCode: 404 });
    await expect(insert()).rejects.toMatchObject({ message: expect.stringContaining("'compute.disks.create'") });
    await expect(disks.list(place, once)).rejects.toMatchObject({
      httpStatusCode: 403,
      message: expect.stringContaining("Required 'compute.disks.list' permission"),
    });
  });

  it("rejects the deletion of protected instances", async () => {
    const { insert, instances } = await aGce();
    await insert({ deletionProtection: true });
    await expect(instances.delete({ ...place, instance: "m" }, once)).rejects.toMatchObject({ httpStatusCode: 400 });
  });

  it("reclaims spot VMs: stops or deletes them, and records an operation", async () => {
    const { insert, get, operations, emulator } = await aGce();
    const spot = { provisioningModel: "SPOT", automaticRestart: false, onHostMaintenance: "TERMINATE" };
    await insert({ scheduling: spot });
    await insert({ name: "n", scheduling: { ...spot, instanceTerminationAction: "DELETE" } });
    emulator.reclaim("m");
    emulator.reclaim("n");
    expect((await get()).status).toBe("TERMINATED");
    await expect(get("n")).rejects.toMatchObject({ httpStatusCode: 404 });
    const filter = 'operationType="compute.instances.preempted"';
    const [preempted] = await operations.list({ ...place, filter }, once);
    expect(preempted.map(({ targetLink }) => targetLink?.split("/").at(-1))).toEqual(["m", "n"]);
  });

  it("describes its machine types", async () => {
    const { types } = await aGce();
    const [type] = await types.get({ ...place, machineType: "a2-highgpu-1g" }, once);
    expect(type).toMatchObject({ guestCpus: 12, memoryMb: 87_040, accelerators: [{ guestAcceleratorCount: 1 }] });
    await expect(types.get({ ...place, machineType: "x9" }, once)).rejects.toMatchObject({ httpStatusCode: 404 });
  });

  it("rejects requests without an issued token", async () => {
    const { url, get, emulator } = await aGce({ tokenMs: 0 });
    await expect(get()).rejects.toMatchObject({ httpStatusCode: 401 });
    const address = `${url}/compute/v1/projects/my-project/zones/europe-west1-b/instances/m`;
    expect((await fetch(address)).status).toBe(401);
    expect((await fetch(address, { headers: { authorization: "Bearer x" } })).status).toBe(401);
    expect(emulator.world.accessTokens.size).toBe(1);
  });

  it("throttles requests as Google does", async () => {
    const { get } = await aGce({ throttle: { burst: 1, perSecond: 0 } });
    await expect(get()).rejects.toMatchObject({ httpStatusCode: 404 });
    await expect(get()).rejects.toMatchObject({ httpStatusCode: 403, reason: "RATE_LIMIT_EXCEEDED" });
  });
});
