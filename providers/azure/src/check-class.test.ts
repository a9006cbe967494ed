import { describe, expect, it } from "vitest";
import { isGranted } from "./checks/permissions.ts";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  plainProperties,
  plainSecret,
  type SpecChange,
} from "./testing/azure-cloud.ts";
import { doctorRoleOfReadme, roleOfReadme } from "./testing/readme-role.ts";

const actions = [...roleOfReadme, ...doctorRoleOfReadme];
const without = (...names: readonly string[]) => ({ actions: actions.filter((each) => !names.includes(each)) });
const { storageProfile } = plainProperties;
const provider = "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Compute";
const imageWith = (imageReference: object) => ({ storageProfile: { ...storageProfile, imageReference } });
const good = imageWith({ id: `${provider}/images/node-1` });
type Cloud = Awaited<ReturnType<typeof aCloud>>;

const check = async ({ driver }: Cloud, { spec = {}, properties = {} }: SpecChange = {}, secret = plainSecret) => {
  const request = aRequest(aMachine("m"), { spec, properties: { ...good, ...properties } }, secret);
  const { checks = [] } = (await driver.checkClass?.(request, aContext())) ?? {};
  return checks;
};
/** The checks with a status, as `name: message`. */
const those = (checks: Awaited<ReturnType<typeof check>>, status: string): readonly string[] =>
  checks.filter((each) => each.status === status).map(({ name, message }) => `${name}: ${message}`);
const size = { vcpus: 2, memoryGb: 8, architecture: "x64" } as const;

describe("the checks of a class", () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["an image", good],
    ["a version in a gallery", imageWith({ id: `${provider}/galleries/g/images/i/versions/1.0.0` })],
    ["an image of the marketplace", imageWith({ urn: "kinvolk:flatcar:stable:4081.2.0" })],
  ])("pass with %s, with the actions of the README, and create and accept nothing", async (_, properties) => {
    const { arm, ...cloud } = await aCloud({ actions, pageSize: 1 });
    const spec = { location: "West Europe", fallbacks: [{ vmSize: "Standard_D4s_v5" }] };
    const checks = await check({ arm, ...cloud }, { properties, spec });
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "Credentials ok",
      "Permissions ok",
      "Image ok",
      "Subnet ok",
      "Machine type ok",
      "Quota ok",
    ]);
    expect(arm.inventory()).toEqual({ vms: [], nics: [], disks: [] });
    expect(arm.world.acceptedPlans.size).toBe(0);
    expect(arm.log.requests.map(({ end }) => end)).not.toContain(403);
  });

  it("read nothing that the README does not name", async () => {
    const { arm, ...cloud } = await aCloud({ actions });
    await check({ arm, ...cloud });
    const asked = [...arm.world.askedActions].map((action) => action.toLowerCase());
    const own = asked.filter((action) => !roleOfReadme.some((each) => each.toLowerCase() === action));
    expect(own.toSorted()).toEqual(doctorRoleOfReadme.map((action) => action.toLowerCase()).toSorted());
  });

  it.each<[string, SpecChange, RegExp]>([
    [
      "no image",
      { properties: imageWith({ id: `${provider}/images/missing` }) },
      /^Image: providerSpec\.properties\.storageProfile\.imageReference\.id: there is no image ".*missing"\.$/,
    ],
    [
      "no image of the marketplace",
      { properties: imageWith({ urn: "kinvolk:flatcar:stable:1.0.0" }) },
      /^Image: .*imageReference\.urn: there is no image "kinvolk:flatcar:stable:1\.0\.0" in westeurope\.$/,
    ],
    [
      "no subnet",
      { spec: { subnetInfo: { vnetName: "vnet", subnetName: "lost" } } },
      /^Subnet: providerSpec\.subnetInfo: there is no subnet "lost" in network "vnet"\.$/,
    ],
    [
      "an unknown size",
      { properties: { hardwareProfile: { vmSize: "Standard_Z1" } } },
      /^Machine type: providerSpec\.properties\.hardwareProfile\.vmSize: "Standard_Z1" is not offered in westeurope\.$/,
    ],
    [
      "a size that the zone does not have",
      { properties: { hardwareProfile: { vmSize: "Standard_D2ps_v5" }, zone: 3 } },
      /^Machine type: .*"Standard_D2ps_v5" is not offered in zone 3 of westeurope\.$/,
    ],
  ])("fail in one line for %s", async (_, change, line) => {
    expect(those(await check(await aCloud({ actions }), change), "failed")).toEqual([expect.stringMatching(line)]);
  });

  it.each([
    [{ reasonCode: "NotAvailableForSubscription" }, /is restricted in westeurope \(NotAvailableForSubscription\)\.$/],
    [{ reasonCode: "QuotaId", zone: "1" }, /is restricted in zone 1 of westeurope \(QuotaId\)\.$/],
  ])("fail in one line for a size with the restriction %j", async (restriction, line) => {
    const sizes = { Standard_D2s_v5: { ...size, restriction }, Standard_D4s_v5: size };
    const cloud = await aCloud({ actions, sizes });
    expect(those(await check(cloud), "failed")).toEqual([expect.stringMatching(line)]);
    // Another candidate can be launched.
    const fallbacks = [{ vmSize: "Standard_D2s_v5" }];
    const checks = await check(cloud, {
      properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } },
      spec: { fallbacks },
    });
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "warning")).toEqual([expect.stringContaining("providerSpec.fallbacks[0]: ")]);
  });

  it("pass a size whose restriction is of another zone", async () => {
    const sizes = { Standard_D2s_v5: { ...size, restriction: { reasonCode: "QuotaId", zone: "2" } } };
    expect(those(await check(await aCloud({ actions, sizes })), "failed")).toEqual([]);
  });

  it("fail in one line when a quota has no room for another VM, with its numbers", async () => {
    const cloud = await aCloud({ actions, coreLimit: 3 });
    expect(those(await check(cloud), "failed")).toEqual([]);
    await cloud.driver.createMachine(aRequest(), aContext());
    expect(those(await check(cloud), "failed")).toEqual([
      "Quota: Quota for a VM is exhausted in westeurope: cores 2 of 3 (a VM needs 2); standardDSv5Family 2 of 3 (a VM needs 2).",
    ]);
  });

  it("fail at wrong credentials, and skip everything else", async () => {
    const cloud = await aCloud({ actions, applications: { client: { tenant: "tenant", secret: "second-secret" } } });
    const checks = await check(cloud);
    expect(those(checks, "failed")).toEqual([expect.stringMatching(/^Credentials: /)]);
    expect(checks.slice(1).every(({ status }) => status === "skipped")).toBe(true);
    expect(JSON.stringify(checks)).not.toContain(plainSecret["clientSecret"]);
  });

  it("fail in one line when the resource group does not exist", async () => {
    const cloud = await aCloud({ actions, groups: ["net"] });
    const spec = { subnetInfo: { vnetName: "shared", subnetName: "nodes", vnetResourceGroup: "net" } };
    const properties = imageWith({ urn: "canonical:ubuntu:24_04:latest" });
    expect(those(await check(cloud, { spec, properties }), "failed")).toEqual([
      'Permissions: providerSpec.resourceGroup: there is no resource group "shoot".',
    ]);
  });

  it.each([
    [
      "Microsoft.Compute/virtualMachines/write",
      /in resource group "shoot": Microsoft\.Compute\/virtualMachines\/write\.$/,
    ],
    ["Microsoft.Network/virtualNetworks/subnets/join/action", /at the subnet: .*subnets\/join\/action\.$/],
  ])("fail in one line without %s", async (action, line) => {
    expect(those(await check(await aCloud(without(action))), "failed")).toEqual([
      expect.stringMatching(new RegExp(`^Permissions: Not allowed ${line.source}`)),
    ]);
  });

  it.each(doctorRoleOfReadme)("are skipped without %s, which only they need", async (action) => {
    const checks = await check(await aCloud(without(action)));
    expect(those(checks, "failed")).toEqual([]);
    expect(those(checks, "skipped")).toEqual([expect.stringContaining(action)]);
  });
});

describe("isGranted", () => {
  const permission = (actions: readonly string[], notActions: readonly string[] = []) => ({ actions, notActions });

  it.each([
    ["*", true],
    ["Microsoft.Compute/*", true],
    ["Microsoft.Compute/*/read", true],
    ["microsoft.compute/virtualmachines/READ", true],
    ["Microsoft.Compute/virtualMachines/write", false],
    ["Microsoft.Network/*", false],
    ["MicrosoftXCompute/virtualMachines/read", false],
  ])("evaluates an assignment of %s: %s", (pattern, granted) => {
    expect(isGranted("Microsoft.Compute/virtualMachines/read", [permission([pattern])])).toBe(granted);
  });

  it("takes out what an assignment excludes, unless another one gives it", () => {
    const reader = permission(["*/read"], ["Microsoft.Compute/virtualMachines/*"]);
    const action = "Microsoft.Compute/virtualMachines/read";
    expect(isGranted(action, [reader])).toBe(false);
    expect(isGranted(action, [reader, permission([action])])).toBe(true);
    expect(isGranted(action, [])).toBe(false);
  });
});
