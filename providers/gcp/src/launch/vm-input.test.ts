import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSpec, sentBody, spotScheduling } from "../testing/gcp-cloud.ts";
import { keptDiskLabel, ownerLabelKeys } from "../vm/owner-tags.ts";

describe("the instance that is asked for", () => {
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
          storagePool: "zones/europe-west1-b/storagePools/a",
          labels: { disk: "root" },
          encryption: { kmsKeyName: " key ", kmsKeyServiceAccount: " account " },
        },
        { type: "SCRATCH", interface: "NVME", boot: true, image, encryption: { kmsKeyName: "local" } },
        {
          type: "pd-ssd",
          sizeGb: 20,
          autoDelete: false,
          encryption: { kmsKeyName: "k", kmsKeyServiceAccount: "" },
        },
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
        {
          network: "shoot",
          disableExternalIP: true,
          stackType: "IPV4_ONLY",
          ipv6accessType: "INTERNAL",
          ipCidrRange: "/24",
        },
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
      shieldedInstanceConfig: { enableSecureBoot: true },
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
            storagePool: "zones/europe-west1-b/storagePools/a",
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
    for (const unsent of ["IPV4_ONLY", "INTERNAL", '"diskSizeGb":"0"', '"kmsKeyServiceAccount":""']) {
      expect(body).not.toContain(unsent);
    }
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

  const { managedBy, machineUid, token, specHash } = ownerLabelKeys;
  it.each<[number, readonly string[], readonly string[]]>([
    [60, [machineUid, managedBy, token, specHash], [keptDiskLabel, machineUid, managedBy, token]],
    [62, [machineUid, managedBy], [keptDiskLabel, machineUid]],
    [63, [machineUid], [keptDiskLabel]],
    [64, [], []],
  ])(
    "leaves out the least needed of the driver's labels where the class has %i, and knows its VM",
    async (count, ofVm, ofKept) => {
      const { gce, driver } = await aCloud();
      const labels = Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, "1"]));
      const [boot] = plainSpec.disks;
      const disks = [
        { ...boot, labels },
        { ...boot, boot: false, autoDelete: false, labels },
      ];
      const request = aRequest(aMachine("m"), { labels, disks });
      const { providerId } = await driver.createMachine(request, aContext());
      const ownOf = (all: object = {}): readonly string[] =>
        Object.keys(all)
          .filter((key) => !(key in labels))
          .toSorted();
      const { instances, disks: made } = gce.inventory();
      expect(ownOf(instances[0]?.resource.labels)).toEqual(ofVm.toSorted());
      expect(made.map((disk) => ownOf(disk.labels))).toEqual([ofVm.toSorted(), ofKept.toSorted()]);

      expect(await driver.createMachine(request, aContext())).toMatchObject({ providerId });
      expect(await driver.getMachineStatus(request, aContext())).toMatchObject({ providerId });
      await driver.deleteMachine(request, aContext());
      expect(gce.inventory().instances).toEqual([]);
      // The class keeps it, regardless of the source.
      expect(gce.inventory().disks.map(({ name }) => name)).toEqual(["m-1"]);
      expect(gce.log.count("instances.insert")).toBe(1);
    },
  );

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

  it("is in the network of a host project, and shows no drift for it", async () => {
    const { driver, gce } = await aCloud({ projects: ["my-project", "host"] });
    const subnetwork = "projects/host/regions/europe-west1/subnetworks/nodes";
    const networks = [
      "projects/host/global/networks/shoot",
      "https://www.googleapis.com/compute/v1/projects/host/global/networks/shoot",
    ];
    const networkInterfaces = networks.map((network) => ({ network, subnetwork, disableExternalIP: true }));
    const request = aRequest(aMachine("m"), { networkInterfaces });
    await driver.createMachine(request, aContext());
    const sent = { network: "projects/host/global/networks/shoot", subnetwork };
    expect(sentBody(gce, "instances.insert")).toMatchObject({ networkInterfaces: [sent, sent] });
    expect(await driver.findDrift?.(request, aContext())).toMatchObject({ differences: [] });
    const other = { ...request, machineClass: aRequest(aMachine("m"), {}).machineClass };
    expect(JSON.stringify(await driver.findDrift?.(other, aContext()))).not.toContain("subnetwork");
  });

  it("does not send that a spot VM is not preemptible, and shows no drift for it", async () => {
    const { gce, driver } = await aCloud();
    const request = aRequest(aMachine("m"), { scheduling: spotScheduling });
    await driver.createMachine(request, aContext());
    expect(sentBody(gce, "instances.insert")).toMatchObject({
      scheduling: { automaticRestart: false, onHostMaintenance: "TERMINATE", provisioningModel: "SPOT" },
    });
    expect(sentBody(gce, "instances.insert")).not.toHaveProperty("scheduling.preemptible");
    await expect(driver.findDrift?.(request, aContext())).resolves.toMatchObject({ differences: [] });
  });

  it("does not send what Go's encoder leaves out: empty texts, and options of shielded VMs that the class does not name", async () => {
    const { gce, driver } = await aCloud();
    const [boot] = plainSpec.disks;
    const spec = {
      description: "",
      minCpuPlatform: "",
      disks: [{ ...boot, storagePool: "" }],
      shieldedInstanceConfiguration: { secureBoot: null, vtpm: false },
    };
    await driver.createMachine(aRequest(aMachine("m"), spec), aContext());
    const sent = sentBody(gce, "instances.insert");
    for (const path of ["description", "minCpuPlatform", "disks.0.initializeParams.storagePool"]) {
      expect(sent).not.toHaveProperty(path);
    }
    expect(sent).toHaveProperty("shieldedInstanceConfig", { enableVtpm: false });
  });
});
