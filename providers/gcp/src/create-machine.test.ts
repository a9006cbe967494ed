import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { ownerLabelKeys } from "./owner-tags.ts";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  aSlowCloud,
  plainSpec,
  sentBody,
  spotScheduling,
} from "./testing/gcp-cloud.ts";

const idOf = (name: string, zone = "europe-west1-b"): string => `gce:///my-project/${zone}/${name}`;

describe("creating a machine", () => {
  it("makes one VM with the provider id and node name of MCM, and the marks of its owner from the first moment", async () => {
    const { gce, driver } = await aCloud();
    const made = await driver.createMachine(aRequest(), aContext());
    expect(made).toMatchObject({
      providerId: "gce:///my-project/europe-west1-b/m",
      nodeName: "m",
      addresses: [{ type: "InternalIP", address: expect.stringMatching(/^10\./) }],
    });
    const owner = {
      [ownerLabelKeys.managedBy]: "millwright",
      [ownerLabelKeys.namespace]: "shoot",
      [ownerLabelKeys.machineUid]: "uid-of-m",
      [ownerLabelKeys.machineClass]: "pool",
      [ownerLabelKeys.token]: "token-of-uid-of-m",
    };
    const { instances, disks } = gce.inventory();
    expect(instances[0]?.resource).toMatchObject({ labels: owner, tags: { items: plainSpec.tags } });
    expect(disks).toMatchObject([{ name: "m", labels: owner }]);
    await expect(driver.getMachineStatus(aRequest(), aContext())).resolves.toEqual(made);
  });

  it("sends what is required and nothing else", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const labels = expect.objectContaining({ "millwright-managed-by": "millwright" });
    expect(sentBody(gce, "instances.insert")).toEqual({
      name: "m",
      canIpForward: false,
      deletionProtection: false,
      labels,
      machineType: "zones/europe-west1-b/machineTypes/n2-standard-2",
      scheduling: { automaticRestart: true, onHostMaintenance: "MIGRATE", preemptible: false },
      tags: { items: [...plainSpec.tags] },
      disks: [
        {
          autoDelete: true,
          boot: true,
          type: "PERSISTENT",
          initializeParams: {
            diskType: "zones/europe-west1-b/diskTypes/pd-balanced",
            diskSizeGb: "50",
            sourceImage: "projects/images/global/images/node-1",
            labels,
            resourceManagerTags: {},
          },
        },
      ],
      metadata: { items: [{ key: "startup-script", value: "#!/bin/sh\necho hello" }] },
      networkInterfaces: [{ subnetwork: "regions/europe-west1/subnetworks/nodes" }],
    });
  });

  it("sends every optional field of the class", async () => {
    const { gce, driver } = await aCloud();
    const image = "projects/images/global/images/node-2";
    const spec = {
      machineType: "n1-standard-2",
      canIpForward: true,
      deletionProtection: true,
      description: "a node",
      minCpuPlatform: "Intel Ice Lake",
      labels: { team: "a", [ownerLabelKeys.machineUid]: "evil" },
      gpu: { acceleratorType: "nvidia-tesla-t4", count: 2 },
      metadata: [{ key: "a", value: "b" }, { key: "empty" }],
      scheduling: {
        automaticRestart: false,
        onHostMaintenance: "TERMINATE",
        preemptible: true,
        provisioningModel: "SPOT",
        instanceTerminationAction: "STOP",
      },
      serviceAccounts: [{ email: "nodes@my-project.iam.gserviceaccount.com", scopes: ["https://scope"] }],
      shieldedInstanceConfiguration: { secureBoot: true },
      advancedMachineFeatures: { enableNestedVirtualization: true },
      disks: [
        {
          boot: true,
          type: "hyperdisk-balanced",
          sizeGb: 100,
          image,
          provisionedIops: 3_000,
          provisionedThroughput: 140,
          storagePool: "pools/a",
          labels: { disk: "root" },
          encryption: { kmsKeyName: " key ", kmsKeyServiceAccount: " account " },
        },
        { type: "SCRATCH", interface: "NVME", boot: true, image, encryption: { kmsKeyName: "local" } },
        { type: "pd-ssd", sizeGb: 20, autoDelete: false },
      ],
      networkInterfaces: [
        {
          network: "shoot",
          subnetwork: "nodes",
          stackType: "IPV4_IPV6",
          ipv6accessType: "EXTERNAL",
          ipCidrRange: "/24",
          subnetworkRangeName: "pods",
        },
        { network: "shoot", disableExternalIP: true, stackType: "IPV4_ONLY", ipCidrRange: "/24" },
        { subnetwork: "nodes", useAliasIPs: true, ipCidrRange: "/26" },
      ],
    };
    await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    expect(sentBody(gce, "instances.insert")).toMatchObject({
      machineType: "zones/europe-west1-b/machineTypes/n1-standard-2",
      canIpForward: true,
      deletionProtection: true,
      description: "a node",
      minCpuPlatform: "Intel Ice Lake",
      labels: { team: "a", [ownerLabelKeys.machineUid]: "uid-of-m" },
      guestAccelerators: [
        {
          acceleratorType: "projects/my-project/zones/europe-west1-b/acceleratorTypes/nvidia-tesla-t4",
          acceleratorCount: 2,
        },
      ],
      metadata: { items: [{ key: "startup-script" }, { key: "a", value: "b" }, { key: "empty" }] },
      scheduling: {
        automaticRestart: false,
        onHostMaintenance: "TERMINATE",
        preemptible: true,
        provisioningModel: "SPOT",
        instanceTerminationAction: "STOP",
      },
      serviceAccounts: [{ email: "nodes@my-project.iam.gserviceaccount.com", scopes: ["https://scope"] }],
      shieldedInstanceConfig: { enableSecureBoot: true, enableIntegrityMonitoring: false, enableVtpm: false },
      advancedMachineFeatures: { enableNestedVirtualization: true },
      disks: [
        {
          boot: true,
          diskEncryptionKey: { kmsKeyName: "key", kmsKeyServiceAccount: "account" },
          initializeParams: {
            diskType: "zones/europe-west1-b/diskTypes/hyperdisk-balanced",
            diskSizeGb: "100",
            sourceImage: image,
            provisionedIops: "3000",
            provisionedThroughput: "140",
            storagePool: "pools/a",
            labels: { disk: "root" },
          },
        },
        {
          boot: false,
          type: "SCRATCH",
          interface: "NVME",
          diskEncryptionKey: { kmsKeyName: "local" },
          initializeParams: { diskType: "zones/europe-west1-b/diskTypes/local-ssd" },
        },
        { boot: false, autoDelete: false, initializeParams: { diskType: "zones/europe-west1-b/diskTypes/pd-ssd" } },
      ],
      networkInterfaces: [
        {
          network: "projects/my-project/global/networks/shoot",
          subnetwork: "regions/europe-west1/subnetworks/nodes",
          accessConfigs: [{}],
          stackType: "IPV4_IPV6",
          ipv6AccessType: "EXTERNAL",
          aliasIpRanges: [{ ipCidrRange: "/24", subnetworkRangeName: "pods" }],
        },
        { network: "projects/my-project/global/networks/shoot" },
        { accessConfigs: [{}], aliasIpRanges: [{ ipCidrRange: "/26" }] },
      ],
    });
    const body = JSON.stringify(sentBody(gce, "instances.insert"));
    expect(body).not.toContain("IPV4_ONLY");
    expect(gce.inventory().instances[0]?.externalIps).toHaveLength(2);
  });

  it.each<[string, Secret, object[]]>([
    ["a script", Secret.of("#!/bin/sh\r\nä"), [{ key: "startup-script", value: "#!/bin/sh\r\nä" }]],
    ["cloud-init's", Secret.of("#cloud-config\na: b\n"), [{ key: "user-data", value: "#cloud-config\na: b\n" }]],
    [
      "the longest that there can be",
      Secret.of("x".repeat(262_144)),
      [{ key: "startup-script", value: "x".repeat(262_144) }],
    ],
    ["none", Secret.of(""), []],
  ])("delivers user data byte by byte: %s", async (_, userData, items) => {
    const { gce, driver } = await aCloud();
    await driver.createMachine({ ...aRequest(), userData }, aContext());
    expect(gce.inventory().instances[0]?.resource.metadata.items).toEqual(items);
  });

  it.each<[string, Uint8Array | string, RegExp]>([
    ["too long", "x".repeat(262_145), /262145 bytes/],
    ["not UTF-8", Uint8Array.of(0xff, 0xfe, 0), /must be UTF-8/],
    ["what the class has too", "#!/bin/sh", /metadata\[0\]\.key: must not be startup-script/],
  ])("refuses user data that are %s, before it asks", async (_, data, message) => {
    const { gce, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { metadata: [{ key: "startup-script", value: "x" }] });
    await expect(driver.createMachine({ ...request, userData: Secret.of(data) }, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringMatching(message),
    });
    expect(gce.log.count("instances.insert")).toBe(0);
  });

  it("writes as a hash what cannot be a label", async () => {
    const { gce, driver } = await aCloud();
    const request = aRequest(aMachine("m", { namespace: "a.b" }));
    const machineClass = { ...request.machineClass, name: `${"pool.".repeat(20)}x` };
    await driver.createMachine({ ...request, machineClass, idempotencyToken: "UPPER" }, aContext());
    const { labels } = gce.inventory().instances[0]?.resource ?? {};
    for (const key of ["namespace", "machineClass", "token"] as const) {
      expect(labels?.[ownerLabelKeys[key]]).toMatch(/^sha-[0-9a-f]{32}$/);
    }
  });

  it("says the same id to the same request", async () => {
    const { gce, driver } = await aCloud();
    const first = await driver.createMachine(aRequest(), aContext());
    const second = await driver.createMachine(aRequest(), aContext());
    expect(second).toEqual(first);
    expect(gce.inventory().instances).toHaveLength(1);
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("makes one VM of twenty equal requests at once", async () => {
    const { gce, driver } = await aCloud({ operationMs: 50, provisioningMs: 40 });
    const made = await Promise.all(Array.from({ length: 20 }, () => driver.createMachine(aRequest(), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(1);
    expect(gce.inventory().instances).toHaveLength(1);
    expect(gce.world.operations.size).toBe(1);
  });

  it("leaves a VM alone that was made from another spec", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const other = aRequest(aMachine("m"), { machineType: "n2-standard-4" });
    await expect(driver.createMachine(other, aContext())).rejects.toMatchObject({ code: "AlreadyExists" });
    expect(gce.inventory().instances[0]?.resource.machineType).toContain("n2-standard-2");
  });

  it.each<[string, object]>([
    ["of an earlier machine of the same name", { labels: { [ownerLabelKeys.machineUid]: "other" } }],
    ["of another cluster", { tags: { items: ["kubernetes-io-cluster-other", "kubernetes-io-role-node"] } }],
    ["of nobody", { tags: { items: [] }, labels: {} }],
  ])("does not take a VM %s", async (_, change) => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, ...change };
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining(idOf("m")),
    });
  });

  it("adopts the VM that MCM's driver has made, which has no labels of ours", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const [vm] = gce.world.instances.values();
    if (vm !== undefined) vm.resource = { ...vm.resource, labels: {} };
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it.each([
    ["reset after the request was accepted", { kind: "reset" } as const, true],
    ["half an answer", { kind: "truncate" } as const, false],
    [
      "a proxy's page after the request was accepted",
      { kind: "reply", reply: { status: 502, body: "<html>" } } as const,
      true,
    ],
    [
      "nonsense after the request was accepted",
      { kind: "reply", reply: { status: 200, body: '{"id":{}}' } } as const,
      true,
    ],
  ])("makes one VM although the answer was lost: %s", async (_, end, afterAcceptance) => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end, afterAcceptance, times: 3 });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    gce.faults.clear();
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("repeats a request whose answer was lost by itself, with the same request id", async () => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end: { kind: "reset" }, afterAcceptance: true });
    await driver.createMachine(aRequest(), aContext());
    const paths = gce.log.requests.filter(({ operation }) => operation === "instances.insert").map(({ path }) => path);
    expect(paths).toHaveLength(2);
    expect(new Set(paths).size).toBe(1);
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("waits until the operation is done, also when a wait ends before", async () => {
    const { gce, driver, clock } = await aSlowCloud();
    const creating = driver.createMachine(aRequest(), aContext());
    await expect.poll(() => gce.log.count("zoneOperations.wait")).toBeGreaterThan(2);
    clock.skip(60_000);
    await creating;
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
  });

  it("goes on waiting for the operation of a try that was killed, with other user data by then", async () => {
    const { gce, driver, clock, giveUpWaiting } = await aSlowCloud();
    expect(await giveUpWaiting((context) => driver.createMachine(aRequest(), context))).toMatchObject({
      code: "DeadlineExceeded",
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    const waits = gce.log.count("zoneOperations.wait");
    const creating = driver.createMachine({ ...aRequest(), userData: Secret.of("another token") }, aContext());
    await expect.poll(() => gce.log.count("zoneOperations.wait")).toBeGreaterThan(waits);
    clock.skip(60_000);
    expect((await creating).providerId).toBe(idOf("m"));
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("tells how the operation of a try that was killed has failed", async () => {
    const { gce, driver, clock, giveUpWaiting } = await aSlowCloud();
    gce.world.capacity.set("n2-standard-2", 0);
    await giveUpWaiting((context) => driver.createMachine(aRequest(), context));
    const creating = driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    clock.skip(60_000);
    expect(await creating).toMatchObject({ code: "ResourceExhausted", tokenIsSpent: true });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("does not ask without a pause when no wait waits", async () => {
    const { gce, driver, clock } = await aSlowCloud({ waitMs: 0 });
    const pauses: number[] = [];
    const sleep: typeof clock.sleep = (ms, signal) => {
      pauses.push(ms);
      return clock.sleep(ms, signal);
    };
    const creating = driver.createMachine(aRequest(), { ...aContext(), clock: { ...clock, sleep } });
    await expect.poll(() => gce.log.count("zoneOperations.wait")).toBeGreaterThan(3);
    expect(pauses.slice(0, 3)).toEqual([10, 15, 22.5]);
    clock.skip(60_000);
    await creating;
  });

  it("says so when Compute Engine does not name the operation that it began", async () => {
    const { gce, driver } = await aCloud();
    const reply = { status: 200, body: JSON.stringify({ kind: "compute#operation", status: "PENDING" }) };
    gce.faults.add({ operation: "instances.insert", end: { kind: "reply", reply }, afterAcceptance: true });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unknown" });
    await driver.createMachine(aRequest(), aContext());
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("asks for another token when the VM of this one was deleted", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    await driver.deleteMachine(aRequest(), aContext());
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "Aborted",
      tokenIsSpent: true,
    });
    await driver.createMachine({ ...aRequest(), idempotencyToken: "second" }, aContext());
    expect(gce.inventory().instances).toHaveLength(1);
  });

  it("does not take a VM that is on its way out", async () => {
    const { gce, driver, clock } = await aSlowCloud({ operationMs: 0, provisioningMs: 0, stagingMs: 0 });
    await driver.createMachine(aRequest(), aContext());
    gce.stop("m");
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    clock.skip(60_000);
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ providerId: idOf("m") });
  });

  it("deletes a spot VM that was taken back before it was used, and asks for another token", async () => {
    const { gce, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { scheduling: spotScheduling });
    await driver.createMachine(request, aContext());
    gce.reclaim("m");
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({
      code: "Aborted",
      tokenIsSpent: true,
      message: expect.stringContaining("reclaimed"),
    });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    await driver.createMachine({ ...request, idempotencyToken: "second" }, aContext());
    expect(gce.inventory().instances).toMatchObject([{ status: "RUNNING" }]);
  });
});

describe("capacity fallbacks", () => {
  const fallbacks = [
    { machineType: "n2-standard-4" },
    { zone: "europe-west1-c" },
    { machineType: "n1-standard-2", zone: "europe-west1-c" },
  ];

  it("are tried in their order when there is no capacity", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-4", 0);
    const made = await driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext());
    expect(made.providerId).toBe(idOf("m", "europe-west1-c"));
    expect(gce.log.count("instances.insert")).toBe(3);
    expect(gce.inventory().instances).toMatchObject([{ zone: "europe-west1-c" }]);
    const disks = gce.inventory().disks.map(({ zone }) => zone);
    expect(disks).toEqual(["europe-west1-c"]);
  });

  it("say what each was refused with when none has room, and leave nothing", async () => {
    const { gce, driver } = await aCloud();
    for (const type of ["n2-standard-2", "n2-standard-4", "n1-standard-2"]) gce.world.capacity.set(type, 0);
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(
        /n2-standard-2 in europe-west1-b.*n2-standard-4 in europe-west1-b.*n2-standard-2 in europe-west1-c.*n1-standard-2 in europe-west1-c/,
      ),
    });
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("are what somebody may add who reads where Compute Engine has room", async () => {
    const { gce, driver } = await aCloud({ operationMs: 5 });
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-2/europe-west1-c", 1);
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/enough resources available.*; there is some in europe-west1-c \(ZONE_RESOURCE/),
    });
  });

  it("help against a type that a zone does not have", async () => {
    const { driver } = await aCloud();
    const spec = { machineType: "t2a-standard-2", zone: "europe-west1-c", fallbacks: [{ zone: "europe-west1-b" }] };
    const made = await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    expect(made.providerId).toBe(idOf("m"));
  });

  it("do not help against anything but a lack of capacity", async () => {
    const { gce, driver } = await aCloud();
    gce.faults.add({ operation: "instances.insert", end: { kind: "refuse", refusal: { code: "invalid" } } });
    await expect(driver.createMachine(aRequest(aMachine("m"), { fallbacks }), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(gce.log.count("instances.insert")).toBe(1);
  });

  it("make one VM when the process died after one was accepted, although there is capacity for the first again", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0).set("n2-standard-4", 0);
    gce.faults.add({ operation: "instances.insert", skip: 2, times: 3, end: { kind: "reset" }, afterAcceptance: true });
    const request = aRequest(aMachine("m"), { fallbacks });
    await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "Unavailable" });
    gce.world.capacity.clear();
    const { providerId } = await driver.createMachine(request, aContext());
    expect(providerId).toBe(idOf("m", "europe-west1-c"));
    expect(gce.inventory().instances).toHaveLength(1);
    await expect(driver.getMachineStatus(request, aContext())).resolves.toMatchObject({ providerId });
  });
});
