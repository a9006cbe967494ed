import { specProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "../driver.ts";
import { plainSpec } from "../testing/gcp-cloud.ts";
import { gcpSpecSchema, gcpVmSpecSchema } from "./spec.ts";

const [boot] = plainSpec.disks;
const [card] = plainSpec.networkInterfaces;
const disk = (more: object) => ({ disks: [{ ...boot, ...more }] });
const nic = (more: object) => ({ networkInterfaces: [{ ...card, ...more }] });
const scheduling = (more: object) => ({ scheduling: { ...plainSpec.scheduling, ...more } });
const reclaimed = { onHostMaintenance: "TERMINATE", automaticRestart: false };
const without = (key: string) => Object.fromEntries(Object.entries(plainSpec).filter(([name]) => name !== key));
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, "1"]));

const problemsOf = (providerSpec: unknown) => specProblems(createGcpDriver(), providerSpec);

describe("providerSpec", () => {
  it("is good with what is required, and gets its defaults once and for all", () => {
    const read = gcpSpecSchema.parse(plainSpec);
    expect(read).toMatchObject({
      canIpForward: false,
      deletionProtection: false,
      labels: {},
      metadata: [],
      fallbacks: [],
      serviceAccounts: [],
      disks: [{ autoDelete: true, boot: true, labels: {}, provisionedIops: 0, interface: "" }],
      networkInterfaces: [{ disableExternalIP: true, useAliasIPs: false, stackType: "" }],
      scheduling: { preemptible: false },
    });
    expect(gcpSpecSchema.parse(read)).toEqual(read);
  });

  it("is read as Go reads it: keys in any case, null is absent, unknown keys are ignored", () => {
    const { machineType, networkInterfaces, ...rest } = plainSpec;
    const spelled = {
      ...rest,
      ApiVersion: "mcm.gardener.cloud/v1alpha1",
      MachineType: machineType,
      NETWORKINTERFACES: networkInterfaces.map((one) => ({ ...one, IPV6AccessType: "" })),
      description: null,
      gpu: null,
      labels: null,
      kind: "GCPProviderSpec",
      secretRef: { name: "a" },
    };
    expect(gcpSpecSchema.parse(spelled)).toEqual({
      ...gcpSpecSchema.parse(plainSpec),
      apiVersion: "mcm.gardener.cloud/v1alpha1",
    });
  });

  it("takes null in a map or list of texts for an empty one, as Go does", () => {
    const [first] = plainSpec.disks;
    const spec = { ...plainSpec, labels: { a: null }, tags: [null, "t"], disks: [{ ...first, labels: { b: null } }] };
    expect(gcpVmSpecSchema.parse(spec)).toMatchObject({
      labels: { a: "" },
      tags: ["", "t"],
      disks: [{ labels: { b: "" } }],
    });
  });

  it("may have no tags: what a class without them has can be deleted", async () => {
    expect(await problemsOf(without("tags"))).toEqual([]);
    expect(gcpSpecSchema.parse({ ...plainSpec, tags: null }).tags).toEqual([]);
  });

  it.each(["region", "zone", "machineType", "disks", "networkInterfaces", "scheduling"])("needs %s", async (field) => {
    expect(await problemsOf(without(field))).toEqual([expect.stringMatching(new RegExp(`^providerSpec\\.${field}: `))]);
  });

  it.each<[string, object, RegExp]>([
    ["an empty machine type", { machineType: "" }, /^providerSpec\.machineType: must not be empty/],
    ["a machine type that is a number", { machineType: 5 }, /^providerSpec\.machineType: /],
    ["a zone that is a path", { zone: "../x" }, /^providerSpec\.zone: must be a zone/],
    ["a region that is a path", { region: "x/y" }, /^providerSpec\.region: must be a region/],
    ["no disk", { disks: [] }, /^providerSpec\.disks: must name at least the boot disk/],
    ["a boot disk without an image", disk({ image: "" }), /disks\[0\]\.image: is required for the boot disk/],
    ["a disk without a type", disk({ type: "" }), /disks\[0\]\.type: must not be empty/],
    ["a disk of a negative size", disk({ sizeGb: -1 }), /disks\[0\]\.sizeGb: /],
    ["a disk of a broken size", disk({ sizeGb: 1.5 }), /disks\[0\]\.sizeGb: /],
    ["a disk whose size is a text", disk({ sizeGb: "50" }), /disks\[0\]\.sizeGb: /],
    ["negative iops", disk({ provisionedIops: -1 }), /disks\[0\]\.provisionedIops: /],
    ["negative throughput", disk({ provisionedThroughput: -1 }), /disks\[0\]\.provisionedThroughput: /],
    [
      "a local disk without an interface",
      { disks: [boot, { type: "SCRATCH" }] },
      /disks\[1\]\.interface: must be "NVME" or "SCSI"/,
    ],
    [
      "a local disk with another interface",
      { disks: [boot, { type: "SCRATCH", interface: "SATA" }] },
      /disks\[1\]\.interface: /,
    ],
    ["encryption without a key", disk({ encryption: {} }), /disks\[0\]\.encryption\.kmsKeyName: /],
    [
      "encryption with a blank key",
      disk({ encryption: { kmsKeyName: "  " } }),
      /encryption\.kmsKeyName: must not be empty/,
    ],
    [
      "a blank service account of a key",
      disk({ encryption: { kmsKeyName: "k", kmsKeyServiceAccount: " " } }),
      /encryption\.kmsKeyServiceAccount: must not be blank/,
    ],
    ["more labels of a disk than there can be", disk({ labels: many(65) }), /disks\[0\]\.labels: must be at most 64/],
    ["no interface", { networkInterfaces: [] }, /^providerSpec\.networkInterfaces: must name at least one/],
    [
      "an interface without network and subnetwork",
      { networkInterfaces: [{}] },
      /networkInterfaces\[0\]: must have a network or a subnetwork/,
    ],
    ["an unknown stack", nic({ stackType: "IPV6" }), /networkInterfaces\[0\]\.stackType: /],
    ["an unknown access type", nic({ ipv6accessType: "x" }), /networkInterfaces\[0\]\.ipv6accessType: /],
    ["a range without a slash", nic({ ipCidrRange: "24" }), /ipCidrRange: must be a length such as "\/24"/],
    ["a range that is too long", nic({ ipCidrRange: "/33" }), /ipCidrRange: /],
    ["no maintenance", { scheduling: {} }, /scheduling\.onHostMaintenance: /],
    ["an unknown maintenance", scheduling({ onHostMaintenance: "WAIT" }), /scheduling\.onHostMaintenance: /],
    [
      "a GPU that is migrated",
      { gpu: { acceleratorType: "t4", count: 1 } },
      /scheduling\.onHostMaintenance: must be "TERMINATE" with a gpu/,
    ],
    [
      "a GPU without a type",
      { gpu: { acceleratorType: "", count: 1 }, ...scheduling({ onHostMaintenance: "TERMINATE" }) },
      /gpu\.acceleratorType: must not be empty/,
    ],
    [
      "no GPU",
      { gpu: { acceleratorType: "t4", count: 0 }, ...scheduling({ onHostMaintenance: "TERMINATE" }) },
      /gpu\.count: must be at least 1/,
    ],
    [
      "a spot VM that is migrated",
      scheduling({ ...reclaimed, provisioningModel: "SPOT", onHostMaintenance: "MIGRATE" }),
      /scheduling\.onHostMaintenance: must be "TERMINATE" for preemptible and spot VMs/,
    ],
    [
      "a preemptible VM that is migrated",
      scheduling({ ...reclaimed, preemptible: true, onHostMaintenance: "MIGRATE" }),
      /scheduling\.onHostMaintenance: must be "TERMINATE" for/,
    ],
    [
      "a spot VM that is restarted",
      scheduling({ ...reclaimed, provisioningModel: "SPOT", automaticRestart: true }),
      /scheduling\.automaticRestart: must be false for preemptible and spot VMs/,
    ],
    [
      "a preemptible VM that is restarted",
      scheduling({ ...reclaimed, preemptible: true, automaticRestart: true }),
      /scheduling\.automaticRestart: must be false for/,
    ],
    ["no boot disk", disk({ boot: false }), /disks\[0\]\.boot: must be true: VMs boot from the first disk/],
    [
      "a boot disk that is not the first",
      { disks: [boot, boot] },
      /disks\[1\]\.boot: must be false: VMs boot from the first disk alone/,
    ],
    [
      "a local SSD as the boot disk",
      disk({ type: "SCRATCH", interface: "NVME" }),
      /disks\[0\]\.type: must not be SCRATCH/,
    ],
    [
      "a local SSD that is persistent",
      { disks: [boot, { type: "local-ssd" }] },
      /disks\[1\]\.type: must be "SCRATCH" for a local SSD/,
    ],
    [
      "a zone of another region",
      { zone: "us-central1-a" },
      /networkInterfaces\[0\]\.subnetwork: must be in the region of zone us-central1-a, not in europe-west1/,
    ],
    [
      "a subnetwork of another region",
      nic({ subnetwork: "projects/host/regions/us-central1/subnetworks/nodes" }),
      /subnetwork: must be in the region of zone europe-west1-b, not in us-central1/,
    ],
    [
      "a subnetwork that is half a path",
      nic({ subnetwork: "host/nodes" }),
      /subnetwork: must be a name, or a path such as/,
    ],
    ["a network that is half a path", nic({ network: "host/shared" }), /network: must be a name, or a path such as/],
    [
      "a label with a capital",
      { labels: { Team: "red" } },
      /^providerSpec\.labels\.Team: must have a key of at most 63 lower-case letters/,
    ],
    ["a label that begins with a digit", { labels: { "1a": "red" } }, /^providerSpec\.labels\[1a\]: must have a key/],
    [
      "a label with a dot",
      { labels: { team: "a.b" } },
      /^providerSpec\.labels\.team: must be at most 63 lower-case letters/,
    ],
    ["a label with a capital value", { labels: { team: "Red" } }, /^providerSpec\.labels\.team: must be/],
    ["a label of 64 letters", { labels: { a: "b".repeat(64) } }, /^providerSpec\.labels\.a: must be at most 63/],
    ["a label of a disk with a capital", disk({ labels: { a: "B" } }), /disks\[0\]\.labels\.a: must be/],
    [
      "a network tag with a capital",
      { tags: [...plainSpec.tags, "Pool"] },
      /^providerSpec\.tags\[2\]: must be 1 to 63 lower-case letters/,
    ],
    ["a network tag with a hyphen at its end", { tags: [...plainSpec.tags, "a-"] }, /^providerSpec\.tags\[2\]: /],
    ["a network tag of 64 letters", { tags: [...plainSpec.tags, "a".repeat(64)] }, /^providerSpec\.tags\[2\]: /],
    [
      "more network tags than there can be",
      { tags: Array.from({ length: 65 }, (_, at) => `t${at}`) },
      /^providerSpec\.tags: must be at most 64/,
    ],
    ["an unknown provisioning", scheduling({ provisioningModel: "CHEAP" }), /scheduling\.provisioningModel: /],
    [
      "a standard VM that is preemptible",
      scheduling({ ...reclaimed, preemptible: true, provisioningModel: "STANDARD" }),
      /scheduling\.provisioningModel: must be "SPOT"/,
    ],
    [
      "a termination action of a standard VM",
      scheduling({ instanceTerminationAction: "DELETE" }),
      /instanceTerminationAction: may only/,
    ],
    [
      "user data in metadata",
      { metadata: [{ key: "user-data", value: "x" }] },
      /metadata\[0\]\.key: must not be user-data/,
    ],
    [
      "a metadata key twice",
      { metadata: [{ key: "a" }, { key: "a" }] },
      /metadata\[1\]\.key: must be unique, "a" occurs twice/,
    ],
    ["metadata without a key", { metadata: [{ value: "x" }] }, /metadata\[0\]\.key: /],
    ["a service account without an email", { serviceAccounts: [{ scopes: [] }] }, /serviceAccounts\[0\]\.email: /],
    ["a tag that is no text", { tags: [...plainSpec.tags, 1] }, /^providerSpec\.tags\[2\]: /],
    ["more labels than there can be", { labels: many(65) }, /^providerSpec\.labels: must be at most 64/],
    ["a label that is no text", { labels: { a: 1 } }, /^providerSpec\.labels\.a: /],
    ["a fallback that is a text", { fallbacks: ["n2-standard-4"] }, /^providerSpec\.fallbacks\[0\]: /],
    [
      "a fallback in another region",
      { fallbacks: [{ zone: "us-central1-a" }] },
      /fallbacks\[0\]\.zone: must be a zone of region europe-west1/,
    ],
    ["a text of a megabyte", { machineType: "a".repeat(2 ** 20) }, /^providerSpec\.machineType: /],
    ["an empty fallback", { fallbacks: [{}] }, /fallbacks\[0\]: must have "machineType" or "zone"/],
    ["a key that would reach a prototype", JSON.parse('{"__proto__":{"a":1}}'), /__proto__/],
  ])("refuses %s and names the field", async (_, change, expected) => {
    const spec = { ...plainSpec };
    // Spreading drops `__proto__`; a class from the API server can have it.
    for (const [key, value] of Object.entries(change)) Object.defineProperty(spec, key, { value, enumerable: true });
    expect(await problemsOf(spec)).toEqual([expect.stringMatching(expected)]);
  });

  it.each<[string, object]>([
    ["a network alone", { networkInterfaces: [{ network: "shoot" }] }],
    ["an empty service account of a key", disk({ encryption: { kmsKeyName: "k", kmsKeyServiceAccount: "" } })],
    [
      "the longest and the shortest range",
      {
        networkInterfaces: [
          { ...card, ipCidrRange: "/0" },
          { ...card, ipCidrRange: "/32" },
        ],
      },
    ],
    ["a startup script beside user data of cloud-init", { metadata: [{ key: "startup-script", value: "x" }] }],
    ["a preemptible VM", scheduling({ ...reclaimed, preemptible: true })],
    ["a spot VM", scheduling({ ...reclaimed, provisioningModel: "SPOT", instanceTerminationAction: "DELETE" })],
    ["labels of another script", { labels: { größe: "groß", 名前: "", a_1: "-x_" }, ...disk({ labels: { λ: "1" } }) }],
    [
      "labels of a local SSD, which has none",
      { disks: [boot, { type: "SCRATCH", interface: "NVME", labels: { A: "B" } }] },
    ],
    [
      "a region of another zone where no subnetwork is of it",
      { region: "us-central1", networkInterfaces: [{ network: "shoot" }] },
    ],
    ["a network of a host project", { networkInterfaces: [{ network: "projects/host/global/networks/shared" }] }],
    [
      "the address of a network",
      {
        networkInterfaces: [{ network: "https://www.googleapis.com/compute/v1/projects/host/global/networks/shared" }],
      },
    ],
    ["a subnetwork of a host project", nic({ subnetwork: "projects/host/regions/europe-west1/subnetworks/nodes" })],
    ["a subnetwork of the project as a path", nic({ subnetwork: "regions/europe-west1/subnetworks/nodes" })],
    [
      "the address of a subnetwork",
      nic({
        subnetwork: "https://compute.googleapis.com/compute/v1/projects/host/regions/europe-west1/subnetworks/nodes",
      }),
    ],
    ["a disk of any type", disk({ type: "hyperdisk-of-tomorrow" })],
    ["as many labels as there can be", { labels: many(64), ...disk({ labels: many(64) }) }],
    ["several cluster tags", { tags: [...plainSpec.tags, "kubernetes-io-cluster-b"] }],
  ])("takes %s", async (_, change) => {
    expect(await problemsOf({ ...plainSpec, ...change })).toEqual([]);
  });

  it.each([[null], [undefined]])("is refused when it is %s", async (spec) => {
    expect(await problemsOf(spec)).toEqual([expect.stringContaining("is required")]);
  });
});
