import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSpec } from "./testing/gcp-cloud.ts";

const everything = {
  machineType: "n1-standard-2",
  canIpForward: true,
  description: "a node",
  minCpuPlatform: "Intel Ice Lake",
  labels: { team: "a" },
  disks: [
    { ...plainSpec.disks[0], image: `https://www.googleapis.com/compute/v1/${plainSpec.disks[0].image}` },
    { type: "SCRATCH", interface: "NVME" },
    { type: "pd-ssd", autoDelete: false },
  ],
  gpu: { acceleratorType: "nvidia-tesla-t4", count: 1 },
  metadata: [{ key: "a", value: "b" }],
  scheduling: { onHostMaintenance: "TERMINATE", provisioningModel: "SPOT", instanceTerminationAction: "STOP" },
  serviceAccounts: [{ email: "nodes@my-project.iam.gserviceaccount.com", scopes: ["s"] }],
  shieldedInstanceConfiguration: { secureBoot: true },
  networkInterfaces: [{ network: "shoot", subnetwork: "nodes", stackType: "IPV4_IPV6", ipCidrRange: "/24" }],
};

const differences = async (made: object, wanted: object): Promise<readonly string[] | undefined> => {
  const { driver } = await aCloud();
  await driver.createMachine(aRequest(aMachine("m"), { ...made }), aContext());
  const found = await driver.findDrift?.(aRequest(aMachine("m"), { ...wanted }), aContext());
  return found?.differences.map(({ field, wanted: is, found: was }) => `${field}: ${is} <- ${was}`);
};

describe("the drift of a machine", () => {
  it.each<[string, object]>([
    ["a plain class", {}],
    ["one with all fields", everything],
    ["preemptible VMs", { scheduling: { preemptible: true, onHostMaintenance: "TERMINATE" } }],
  ])("is nothing right after its creation: %s", async (_, spec) => {
    expect(await differences(spec, spec)).toEqual([]);
  });

  it("is nothing when a fallback was taken", async () => {
    const { gce, driver } = await aCloud();
    gce.world.capacity.set("n2-standard-2/europe-west1-b", 0);
    const request = aRequest(aMachine("m"), { fallbacks: [{ zone: "europe-west1-c", machineType: "n2-standard-4" }] });
    await driver.createMachine(request, aContext());
    await expect(driver.findDrift?.(request, aContext())).resolves.toEqual({
      providerId: "gce:///my-project/europe-west1-c/m",
      differences: [],
    });
  });

  it.each<[string, object, object, readonly string[]]>([
    [
      "disks",
      { disks: [plainSpec.disks[0], { type: "SCRATCH", interface: "NVME" }, { type: "pd-ssd", sizeGb: 10 }] },
      {
        disks: [
          { ...plainSpec.disks[0], sizeGb: 60, image: "projects/images/global/images/node-2" },
          { type: "pd-balanced", sizeGb: 10, autoDelete: false },
          { type: "pd-standard" },
        ],
      },
      [
        "disks[0].image: projects/images/global/images/node-2 <- projects/images/global/images/node-1",
        "disks[0].sizeGb: 60 <- 50",
        "disks[1].autoDelete: false <- true",
        "disks[1].type: pd-balanced <- pd-ssd",
        "disks[2]: pd-standard <- ",
      ],
    ],
    ["a disk too many", { disks: [plainSpec.disks[0], { type: "pd-ssd", sizeGb: 10 }] }, {}, ["disks:  <- pd-ssd"]],
    ["another type", {}, { machineType: "n2-standard-4" }, ["machineType: n2-standard-4 <- n2-standard-2"]],
    ["a label", { labels: { team: "a" } }, { labels: { team: "b" } }, ["labels.team: b <- a"]],
    [
      "a tag",
      {},
      { tags: [...plainSpec.tags, "more"] },
      [
        "tags: kubernetes-io-cluster-shoot,kubernetes-io-role-node,more <- kubernetes-io-cluster-shoot,kubernetes-io-role-node",
      ],
    ],
    ["forwarding", {}, { canIpForward: true }, ["canIpForward: true <- false"]],
    ["protection", {}, { deletionProtection: true }, ["deletionProtection: true <- false"]],
    ["metadata", {}, { metadata: [{ key: "a", value: "b" }] }, ["metadata[0].value: b <- "]],
    [
      "a network and a public address",
      {},
      { networkInterfaces: [{ network: "shoot", subnetwork: "other" }] },
      [
        "networkInterfaces[0].disableExternalIP: false <- true",
        "networkInterfaces[0].network: shoot <- default",
        "networkInterfaces[0].subnetwork: other <- nodes",
      ],
    ],
    [
      "an interface more",
      {},
      { networkInterfaces: [...plainSpec.networkInterfaces, { network: "shoot" }] },
      ["networkInterfaces[1]: shoot <- "],
    ],
    [
      "scheduling",
      {},
      { scheduling: { onHostMaintenance: "TERMINATE", provisioningModel: "SPOT" } },
      [
        "scheduling.automaticRestart: false <- true",
        "scheduling.onHostMaintenance: TERMINATE <- MIGRATE",
        "scheduling.provisioningModel: SPOT <- STANDARD",
      ],
    ],
    ["service accounts", {}, { serviceAccounts: [{ email: "e" }] }, ["serviceAccounts: e <- "]],
    [
      "shielding",
      { shieldedInstanceConfiguration: { secureBoot: false } },
      { shieldedInstanceConfiguration: { secureBoot: true } },
      ["shieldedInstanceConfiguration.secureBoot: true <- false"],
    ],
    [
      "a GPU",
      { machineType: "n1-standard-2", scheduling: { onHostMaintenance: "TERMINATE" } },
      {
        machineType: "n1-standard-2",
        scheduling: { onHostMaintenance: "TERMINATE" },
        gpu: { acceleratorType: "t4", count: 1 },
      },
      ["gpu.acceleratorType: t4 <- ", "gpu.count: 1 <- 0"],
    ],
  ])("reports %s", async (_, made, wanted, expected) => {
    expect(await differences(made, wanted)).toEqual(expected);
  });

  it("is not that of disks that were attached later, of an image of a family, or of a VM of MCM's driver", async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    gce.attachDisk("m", "pv-1");
    const family = { disks: [{ ...plainSpec.disks[0], image: "projects/images/global/images/family/node" }] };
    const request = aRequest(aMachine("m"), family);
    await expect(driver.findDrift?.(request, aContext())).resolves.toMatchObject({ differences: [] });
    for (const [key, disk] of gce.world.disks) gce.world.disks.set(key, { ...disk, labels: {} });
    const other = aRequest(aMachine("m"), { disks: [{ ...plainSpec.disks[0], sizeGb: 99 }] });
    await expect(driver.findDrift?.(other, aContext())).resolves.toMatchObject({ differences: [] });
  });

  it("of a machine without a VM is NotFound", async () => {
    const { driver } = await aCloud();
    await expect(driver.findDrift?.(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
  });
});
