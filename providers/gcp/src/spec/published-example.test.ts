import { secretProblems, specProblems } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createGcpDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, plainAccount, sentBody } from "../testing/gcp-cloud.ts";

const bootDisk = {
  autoDelete: true,
  boot: true,
  sizeGb: 50,
  type: "pd-standard",
  image: "projects/images/global/images/node-1",
  labels: { name: "pool" },
};

/** The fields of kubernetes/machine-class.yaml in gardener/machine-controller-manager-provider-gcp. */
const example = {
  canIpForward: true,
  deletionProtection: false,
  description: "A machine of a shoot.",
  disks: [bootDisk],
  labels: { name: "pool" },
  machineType: "n2-standard-2",
  metadata: [{ key: "team", value: "red" }],
  networkInterfaces: [
    {
      network: "shoot",
      subnetwork: "nodes",
      stackType: "IPV4_IPV6",
      ipv6accessType: "EXTERNAL",
      ipCidrRange: "/24",
      subnetworkRangeName: "pods",
    },
  ],
  scheduling: { automaticRestart: true, onHostMaintenance: "MIGRATE", preemptible: false },
  secretRef: { name: "cloud", namespace: "default" },
  serviceAccounts: [
    {
      email: "default@project.iam.gserviceaccount.com",
      scopes: ["https://www.googleapis.com/auth/compute"],
    },
  ],
  tags: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-mcm", "pool"],
  region: "europe-west1",
  zone: "europe-west1-b",
};

/** Fields that are commented out there. */
const kms = "projects/my-project/locations/europe-west1/keyRings/ring/cryptoKeys/key";
const encryption = { kmsKeyName: kms, kmsKeyServiceAccount: "id@project.iam.gserviceaccount.com" };

it.each([
  ["", {}],
  [", with an encrypted disk", { disks: [{ ...bootDisk, encryption }] }],
  [
    ", with a disk of a storage pool",
    {
      disks: [
        {
          ...bootDisk,
          provisionedIops: 3_000,
          provisionedThroughput: 140,
          storagePool: "projects/my-project/zones/europe-west1-b/storagePools/pool",
        },
      ],
    },
  ],
  [", with a minimum CPU platform", { minCpuPlatform: "Intel Skylake" }],
  [
    ", with a shielded configuration",
    { shieldedInstanceConfiguration: { integrityMonitoring: false, vtpm: false, secureBoot: true } },
  ],
])("accepts the published class%s", async (_, change) => {
  expect(await specProblems(createGcpDriver(), { ...example, ...change })).toEqual([]);
});

it("makes a VM of the published class", async () => {
  const { driver, gce } = await aCloud();
  await driver.createMachine(aRequest(aMachine("m"), example), aContext());
  expect(sentBody(gce, "instances.insert")).toMatchObject({
    canIpForward: true,
    networkInterfaces: [
      {
        stackType: "IPV4_IPV6",
        ipv6AccessType: "EXTERNAL",
        aliasIpRanges: [{ ipCidrRange: "/24", subnetworkRangeName: "pods" }],
      },
    ],
    serviceAccounts: example.serviceAccounts,
  });
});

it.each(["serviceAccountJSON", "serviceaccount.json"])("accepts the published secret with %s", async (key) => {
  const secret = { userData: "boot", [key]: JSON.stringify(plainAccount) };
  expect(await secretProblems(createGcpDriver(), secret)).toEqual([]);
});
