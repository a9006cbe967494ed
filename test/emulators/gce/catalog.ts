import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { demandIn } from "./permissions.ts";
import { GceRefusal, jsonReply, notFound } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/** Resources outside of zones that exist from the start: regions with their quotas, subnetworks, networks and images. And the permissions of a project. */
interface Route {
  readonly operation: string;
  readonly permission: string;
  readonly answer: (world: GceWorld, at: Target) => EmulatorReply;
}

interface Target {
  readonly project: string;
  /** Empty for global resources. */
  readonly region: string;
  readonly name: string;
}

/** Path of a resource below `projects/`, as in messages. */
const pathOf = ({ project, region }: Target, rest: string): string =>
  `projects/${project}/${region === "" ? "global" : `regions/${region}`}${rest}`;

const cpusInUse = (world: GceWorld, region: string): number =>
  [...world.instances.values()]
    .filter((instance) => instance.zone.startsWith(`${region}-`) && world.status(instance) !== "TERMINATED")
    .reduce((sum, { resource }) => {
      const type = resource.machineType.split("/").at(-1) ?? "";
      return sum + (world.machineTypes.get(type)?.guestCpus ?? 0);
    }, 0);

function getRegion(world: GceWorld, at: Target): EmulatorReply {
  const zones = [...world.zones].filter((zone) => zone.startsWith(`${at.region}-`));
  if (zones.length === 0) throw notFound(pathOf(at, ""));
  const { cpuQuota = 1_000_000 } = world.options;
  return jsonReply(200, {
    kind: "compute#region",
    name: at.region,
    status: "UP",
    quotas: [{ metric: "CPUS", limit: cpuQuota, usage: cpusInUse(world, at.region) }],
    zones: zones.map((zone) => `https://www.googleapis.com/compute/v1/projects/${at.project}/zones/${zone}`),
  });
}

function getSubnetwork(world: GceWorld, at: Target): EmulatorReply {
  if (!world.subnetworks.has(`${at.region}/${at.name}`)) throw notFound(pathOf(at, `/subnetworks/${at.name}`));
  return jsonReply(200, { kind: "compute#subnetwork", name: at.name, ipCidrRange: "10.250.0.0/16" });
}

function getNetwork(world: GceWorld, at: Target): EmulatorReply {
  if (!world.networks.has(at.name)) throw notFound(pathOf(at, `/networks/${at.name}`));
  return jsonReply(200, { kind: "compute#network", name: at.name, autoCreateSubnetworks: false });
}

const getImage =
  (collection: "images" | "images/family"): Route["answer"] =>
  (world, at) => {
    const path = pathOf(at, `/${collection}/${at.name}`);
    if (!world.images.has(path)) throw notFound(path);
    return jsonReply(200, { kind: "compute#image", name: at.name, status: "READY", architecture: "X86_64" });
  };

/** By whether it is of a region, and its collection. */
const routes: Readonly<Record<string, Route>> = {
  "regions ": { operation: "regions.get", permission: "compute.regions.get", answer: getRegion },
  "regions subnetworks/*": {
    operation: "subnetworks.get",
    permission: "compute.subnetworks.get",
    answer: getSubnetwork,
  },
  "global networks/*": { operation: "networks.get", permission: "compute.networks.get", answer: getNetwork },
  "global images/*": { operation: "images.get", permission: "compute.images.get", answer: getImage("images") },
  "global images/family/*": {
    operation: "images.getFromFamily",
    permission: "compute.images.getFromFamily",
    answer: getImage("images/family"),
  },
};

const shared =
  /^\/compute\/v1\/projects\/([^/]+)\/(?:(global)|regions\/([^/]+))(?:\/(subnetworks|networks|images|images\/family)\/([^/]+))?$/;

/** Subject and action of a request outside of zones; undefined for any other request. */
export function catalogRouteOf({ method, url }: Pick<EmulatorRequest, "method" | "url">) {
  const match = shared.exec(decodeURI(url.pathname));
  if (method !== "GET" || match === null) return undefined;
  const [, project = "", isGlobal, region = "", collection = "", name = ""] = match;
  const shape = `${isGlobal === undefined ? "regions" : "global"} ${collection === "" ? "" : `${collection}/*`}`;
  const route = Object.hasOwn(routes, shape) ? routes[shape] : undefined;
  if (route === undefined) return undefined;
  const at: Target = { project, region, name };
  return {
    operation: route.operation,
    at,
    answer: (world: GceWorld): EmulatorReply => {
      // Images may be of any project.
      if (!route.operation.startsWith("images.") && !world.projects.has(project)) throw notFound(`projects/${project}`);
      demandIn(world, pathOf(at, name === "" ? "" : `/${collection}/${name}`), route.permission);
      return route.answer(world, at);
    },
  };
}

const permissionsPath = /^\/v3\/projects\/([^/:]+):testIamPermissions$/;

/** The project of a request of Resource Manager for the caller's permissions; undefined for any other request. */
export const permissionsProjectOf = ({ method, url }: Pick<EmulatorRequest, "method" | "url">): string | undefined =>
  method === "POST" ? permissionsPath.exec(url.pathname)?.[1] : undefined;

/** `projects.testIamPermissions` of Resource Manager, which needs no permission itself. */
export function testIamPermissions(world: GceWorld, project: string, body: string): EmulatorReply {
  if (!world.projects.has(project)) throw new GceRefusal("forbidden", "The caller does not have permission");
  const parsed: unknown = JSON.parse(body);
  const asked: unknown = typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "permissions") : undefined;
  if (!Array.isArray(asked) || asked.length > 100 || !asked.every((each) => typeof each === "string")) {
    throw new GceRefusal("badRequest", "Request contains an invalid argument.");
  }
  const { permissions } = world.options;
  const granted = asked.filter((permission) => permissions === undefined || permissions.includes(permission));
  // Google omits the field when it is empty.
  return jsonReply(200, granted.length === 0 ? {} : { permissions: granted });
}
