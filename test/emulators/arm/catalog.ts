import * as z from "zod";
import { type ArmAction, type ArmCall, empty, json, page, readBody } from "./call.ts";
import { ArmRefusal } from "./refusal.ts";
import type { Image, VmSize } from "./world.ts";

/* Resources that exist from the start: resource groups, subnets, images, terms of the marketplace, sizes. */

/** HEAD of a resource group. */
export const checkGroup: ArmAction = ({ world, path }) => empty(world.groups.has(path.group.toLowerCase()) ? 204 : 404);

/** GET of a subnet. */
export const getSubnet: ArmAction = ({ world, path }) => {
  const [, network = "", , name = ""] = path.segments;
  if (!world.subnets.has(`${path.group}/${network}/${name}`.toLowerCase())) {
    throw new ArmRefusal("NotFound", `Resource ${network}/subnets/${name} not found.`);
  }
  const id = `/subscriptions/${path.subscription}/resourceGroups/${path.group}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${name}`;
  return json(200, { id, name, properties: { provisioningState: "Succeeded", addressPrefix: "10.250.0.0/16" } });
};

/** GET of an image of the marketplace. */
export const getImage: ArmAction = ({ world, path }) => {
  const [, , , publisher, , , , offer, , sku, , version] = path.segments;
  const urn = [publisher, offer, sku, version].join(":");
  const image = world.images.get(urn);
  if (image === undefined)
    throw new ArmRefusal("PlatformImageNotFound", `The platform image '${urn}' is not available.`);
  return json(200, {
    id: imageIdOf(path.subscription, urn),
    name: version,
    location: world.location,
    properties: {
      ...(image.plan === undefined ? {} : { plan: image.plan }),
      osDiskImage: { operatingSystem: "Linux" },
      hyperVGeneration: "V2",
    },
  });
};

/** The id of an image of the marketplace. */
export const imageIdOf = (subscription: string, urn: string): string => {
  const [publisher, offer, sku, version] = urn.split(":");
  return `/Subscriptions/${subscription}/Providers/Microsoft.Compute/Locations/westeurope/Publishers/${publisher}/ArtifactTypes/VMImage/Offers/${offer}/Skus/${sku}/Versions/${version}`;
};

/** The key of a plan. */
export const planKey = ({ publisher, product, name }: NonNullable<Image["plan"]>): string =>
  `${publisher}/${product}/${name}`;

const agreementSchema = z.object({ properties: z.object({ accepted: z.boolean() }) });

function agreementOf({ world, path }: ArmCall) {
  const [, , , publisher = "", , product = "", , name = ""] = path.segments;
  const plan = { publisher, product, name };
  const isKnown = [...world.images.values()].some(
    (image) => image.plan !== undefined && planKey(image.plan) === planKey(plan),
  );
  // Azure responds so where NotFound would be expected (machine-controller-manager-provider-azure, `pkg/azure/provider/provider.go`).
  if (!isKnown)
    throw new ArmRefusal("BadRequest", `Offer with PublisherId: ${publisher}, OfferId: ${product} not found.`);
  return plan;
}

const agreement = (call: ArmCall, plan: NonNullable<Image["plan"]>) =>
  json(200, {
    id: call.path.segments.join("/"),
    name: plan.name,
    type: "Microsoft.MarketplaceOrdering/offertypes",
    properties: {
      publisher: plan.publisher,
      product: plan.product,
      plan: plan.name,
      licenseTextLink: "https://example.invalid/terms",
      signature: "SIGNATURE",
      retrieveDatetime: call.world.now().toISOString(),
      accepted: call.world.acceptedPlans.has(planKey(plan)),
    },
  });

/** GET of the terms of a plan. */
export const getAgreement: ArmAction = (call) => agreement(call, agreementOf(call));

/** PUT of the terms of a plan: accepts them. */
export const putAgreement: ArmAction = (call) => {
  const plan = agreementOf(call);
  if (readBody(call, agreementSchema).properties.accepted) call.world.acceptedPlans.add(planKey(plan));
  return agreement(call, plan);
};

/** GET of the caller's permissions at a scope: one role with the actions of the world, and no notActions. */
export const listPermissions: ArmAction = (call) =>
  page(call, [{ actions: call.world.options.actions ?? ["*"], notActions: [], dataActions: [], notDataActions: [] }]);

/** GET of an image with an id. As for VMs, all exist but those whose id contains `missing`. */
export const getPrivateImage: ArmAction = ({ world, request, path }) => {
  const id = decodeURIComponent(request.url.pathname);
  if (id.includes("missing")) throw new ArmRefusal("ResourceNotFound", `The Resource '${id}' was not found.`);
  const name = path.segments.at(-1);
  return json(200, { id, name, location: world.location, properties: { provisioningState: "Succeeded" } });
};

/** GET of the quotas of a location, and their usage. */
export const listUsages: ArmAction = (call) => {
  const { world } = call;
  const sizes = [...world.vms.values()].map((vm) => world.sizes.get(vm.body.properties.hardwareProfile.vmSize));
  const coresOf = (family?: string): number =>
    sizes
      .filter((size) => family === undefined || size?.family === family)
      .reduce((sum, size) => sum + (size?.vcpus ?? 0), 0);
  const families = [...new Set([...world.sizes.values()].flatMap(({ family }) => family ?? []))];
  const { coreLimit = 1_000_000 } = world.options;
  const usage = (value: string, currentValue: number) => ({
    unit: "Count",
    limit: coreLimit,
    currentValue,
    name: { value, localizedValue: value },
  });
  return page(call, [usage("cores", coresOf()), ...families.map((family) => usage(family, coresOf(family)))]);
};

/** GET of the sizes of VMs. */
export const listSkus: ArmAction = (call) => {
  const { world, request } = call;
  const [, location = world.location] =
    /^location eq '([^']+)'$/.exec(request.url.searchParams.get("$filter") ?? "") ?? [];
  const sizes = location === world.location ? [...world.sizes] : [];
  return page(call, [
    { resourceType: "disks", name: "Premium_LRS", locations: [location] },
    ...sizes.map(([name, { vcpus, memoryGb, gpus, architecture, family, restriction, zones = ["1", "2", "3"] }]) => ({
      resourceType: "virtualMachines",
      name,
      locations: [location],
      locationInfo: [{ location, zones }],
      capabilities: [
        { name: "vCPUs", value: String(vcpus) },
        { name: "MemoryGB", value: String(memoryGb) },
        { name: "CpuArchitectureType", value: architecture },
        ...(gpus === undefined ? [] : [{ name: "GPUs", value: String(gpus) }]),
      ],
      ...(family === undefined ? {} : { family }),
      restrictions: restriction === undefined ? [] : [restrictionOf(location, restriction)],
    })),
  ]);
};

/** A restriction as the list of sizes has it. */
const restrictionOf = (location: string, { reasonCode, zone }: NonNullable<VmSize["restriction"]>) => ({
  type: zone === undefined ? "Location" : "Zone",
  values: [location],
  restrictionInfo: { locations: [location], ...(zone === undefined ? {} : { zones: [zone] }) },
  reasonCode,
});
