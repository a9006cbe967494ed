import { refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  doctorRoleOfReadme,
  otherAccount,
  plainAccount,
  plainSecret,
  plainSpec,
  roleOfReadme,
  secretWith,
  serviceAccounts,
  spotScheduling,
} from "./testing/gcp-cloud.ts";

const permissions = [...roleOfReadme, ...doctorRoleOfReadme];
const without = (...names: readonly string[]) => ({ permissions: permissions.filter((each) => !names.includes(each)) });
type Cloud = Awaited<ReturnType<typeof aCloud>>;

const check = async ({ driver }: Cloud, spec: object = {}, secret = plainSecret) => {
  const { checks = [] } = (await driver.checkClass?.(aRequest(aMachine("m"), { ...spec }, secret), aContext())) ?? {};
  return checks;
};
/** The checks with a status, as `name: message`. */
const those = (checks: Awaited<ReturnType<typeof check>>, status: string): readonly string[] =>
  checks.filter((each) => each.status === status).map(({ name, message }) => `${name}: ${message}`);

const [boot] = plainSpec.disks;

describe("the checks of a class", () => {
  it("pass where VMs can be created, with the roles of the README, and create none", async () => {
    const cloud = await aCloud({ permissions });
    const checks = await check(cloud, {
      networkInterfaces: [{ subnetwork: "nodes" }, { network: "shoot" }],
      fallbacks: [{ machineType: "n2-standard-4" }],
    });
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "Credentials ok",
      "Permissions ok",
      "Images ok",
      "Networks ok",
      "Machine type ok",
      "Quota ok",
    ]);
    expect(cloud.gce.inventory()).toEqual({ instances: [], disks: [] });
    expect(cloud.gce.log.requests.map(({ end }) => end)).not.toContain(403);
  });

  it.each<[string, object, RegExp]>([
    [
      "no image",
      { disks: [{ ...boot, image: "projects/images/global/images/lost" }] },
      /^Images: providerSpec\.disks\[0\]\.image: there is no image "projects\/images\/global\/images\/lost"\.$/,
    ],
    [
      "no image family",
      {
        disks: [{ ...boot, image: "https://www.googleapis.com/compute/v1/projects/images/global/images/family/lost" }],
      },
      /^Images: .*there is no image/,
    ],
    [
      "no subnetwork",
      { networkInterfaces: [{ subnetwork: "lost" }] },
      /^Networks: providerSpec\.networkInterfaces\[0\]\.subnetwork: there is no subnetwork "lost" in europe-west1\.$/,
    ],
    ["no network", { networkInterfaces: [{ network: "lost" }] }, /^Networks: .*\.network: there is no network "lost"/],
    [
      "a type that the zone does not have",
      { machineType: "t2a-standard-2", zone: "europe-west1-c" },
      /^Machine type: providerSpec\.machineType: there is no "t2a-standard-2" in europe-west1-c\.$/,
    ],
  ])("fail in one line for %s", async (_, spec, line) => {
    expect(those(await check(await aCloud({ permissions }), spec), "failed")).toEqual([expect.stringMatching(line)]);
  });

  it("pass with networks of a host project, whose permissions are granted there", async () => {
    const cloud = await aCloud({
      ...without("compute.networks.use", "compute.subnetworks.use"),
      projects: ["my-project", "host"],
    });
    const networkInterfaces = [
      { subnetwork: "projects/host/regions/europe-west1/subnetworks/nodes", disableExternalIP: true },
      { network: "projects/host/global/networks/shoot", disableExternalIP: true },
    ];
    expect(those(await check(cloud, { networkInterfaces }), "failed")).toEqual([]);
    const lost = [{ ...networkInterfaces[0], subnetwork: "projects/host/regions/europe-west1/subnetworks/lost" }];
    expect(those(await check(cloud, { networkInterfaces: lost }), "failed")).toEqual([
      'Networks: providerSpec.networkInterfaces[0].subnetwork: there is no subnetwork "lost" in europe-west1 of project "host".',
    ]);
  });

  it("only warn of a fallback that the zone does not have", async () => {
    const fallbacks = [{ machineType: "t2a-standard-2", zone: "europe-west1-c" }];
    const checks = await check(await aCloud({ permissions }), { fallbacks });
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "warning")).toEqual([expect.stringContaining("providerSpec.fallbacks[0]: ")]);
  });

  it.each<[string, object]>([
    ["VMs", {}],
    ["spot VMs", { scheduling: spotScheduling }],
  ])("fail in one line when the quota has no room for more %s, with its numbers", async (_, spec) => {
    const cloud = await aCloud({ permissions, cpuQuota: 3 });
    expect(those(await check(cloud, spec), "failed")).toEqual([]);
    await cloud.driver.createMachine(aRequest(), aContext());
    expect(those(await check(cloud, spec), "failed")).toEqual([
      "Quota: Quota for a VM is exhausted in europe-west1: CPUS 2 of 3 (a VM needs 2).",
    ]);
  });

  it("fail at wrong credentials, and skip everything else", async () => {
    const cloud = await aCloud({ permissions, serviceAccounts });
    expect(those(await check(cloud), "failed")).toEqual([]);
    const forged = secretWith({ ...plainAccount, private_key: otherAccount.private_key });
    const checks = await check(cloud, {}, forged);
    expect(those(checks, "failed")).toEqual([expect.stringMatching(/^Credentials: .*invalid_grant/)]);
    expect(checks.slice(1).every(({ status }) => status === "skipped")).toBe(true);
    expect(JSON.stringify(checks)).not.toContain("PRIVATE KEY");
  });

  it.each(["compute.instances.create", "compute.subnetworks.use", "compute.zoneOperations.get"])(
    "fail in one line without the permission %s",
    async (permission) => {
      expect(those(await check(await aCloud(without(permission))), "failed")).toEqual([
        `Permissions: Not allowed in project "my-project": ${permission}.`,
      ]);
    },
  );

  it("ask for no permission that the class does not need", async () => {
    const unneeded = ["compute.networks.use", "compute.storagePools.use", "compute.subnetworks.useExternalIp"];
    const cloud = await aCloud(without(...unneeded));
    expect(those(await check(cloud), "failed")).toEqual([]);
    const failed = those(await check(cloud, { networkInterfaces: [{ network: "shoot" }] }), "failed");
    expect(failed).toEqual(['Permissions: Not allowed in project "my-project": compute.networks.use.']);
  });

  it.each(doctorRoleOfReadme)("are never failed by the lack of %s, which only they need", async (permission) => {
    const family = { disks: [boot, { ...boot, boot: false, image: "projects/images/global/images/family/nodes" }] };
    const spec = { ...family, networkInterfaces: [{ subnetwork: "nodes" }, { network: "shoot" }] };
    const images = ["projects/images/global/images/node-1", "projects/images/global/images/family/nodes"];
    const cloud = await aCloud({ ...without(permission), images });
    const checks = await check(cloud, spec);
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "skipped")).toEqual([expect.stringContaining(`Required '${permission}' permission`)]);
  });

  it("skip the permissions where Resource Manager is switched off", async () => {
    const cloud = await aCloud({ permissions });
    const end = refuse("accessNotConfigured", { message: "Cloud Resource Manager API has not been used in project 1" });
    cloud.gce.faults.add({ operation: "cloudresourcemanager.projects.testIamPermissions", times: 9, end });
    const checks = await check(cloud);
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "skipped")).toEqual([expect.stringMatching(/^Permissions: .*Cloud Resource Manager API/)]);
  });
});
