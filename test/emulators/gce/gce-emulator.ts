import {
  createEmulatorServer,
  type Emulator,
  type EmulatorReply,
  type EmulatorRequest,
  type EmulatorServer,
  type EmulatorServerOptions,
} from "../server/index.ts";
import {
  authenticate,
  exchangeAssertion,
  exchangeIdentity,
  impersonate,
  issueToken,
  tokenPaths,
} from "./access-tokens.ts";
import type { GceAction, GceCall } from "./call.ts";
import { catalogRouteOf, permissionsProjectOf, testIamPermissions } from "./catalog.ts";
import { deleteDisk, listDisks } from "./disks.ts";
import { insertInstance, removeInstance } from "./insert-instance.ts";
import type { Disk, Instance, InstanceStatus } from "./instance.ts";
import { deleteInstance, getInstance, listInstances } from "./instances.ts";
import { getMachineType } from "./machine-types.ts";
import { answerMetadata, metadataPaths } from "./metadata-server.ts";
import { getOperation, listOperations, waitForOperation } from "./operations.ts";
import { demand } from "./permissions.ts";
import { findDifferences } from "./published/compare-exchange.ts";
import { GceRefusal, notFound, refusalReply } from "./refusal.ts";
import { createGceWorld, type GceWorld, type GceWorldOptions } from "./world.ts";

/** Initial state and behavior of an emulated Compute Engine. */
export interface GceEmulatorOptions extends GceWorldOptions, Omit<EmulatorServerOptions, "clock" | "random"> {}

/** Remaining resources of created instances. */
export interface GceInventory {
  readonly instances: readonly (Instance & { readonly status: InstanceStatus })[];
  readonly disks: readonly Disk[];
}

/** Compute Engine, and the services that issue tokens, behind a server. */
export interface GceEmulator extends EmulatorServer {
  /** The state: a test may change it, for example its `capacity` and `serviceAccounts`. */
  readonly world: GceWorld;
  inventory(): GceInventory;
  /** A valid token. */
  token(user?: string): string;
  /** Stops an instance, or deletes it by its termination action, as Compute Engine does when it preempts a spot VM. */
  reclaim(name: string): void;
  /** Stops an instance, as a user of the console does. */
  stop(name: string): void;
  /** Keeps an instance in a status that the emulator does not reach by itself. */
  hold(name: string, status: InstanceStatus): void;
  /** Deletes an instance at once, as a user of the console does, with or without its disks. */
  remove(name: string, options?: { readonly keepDisks?: boolean }): void;
  /** Attaches an existing disk, as a CSI driver does. */
  attachDisk(name: string, diskName: string): void;
}

interface Route {
  readonly operation: string;
  /** The required permission; an action may require more. */
  readonly permission: string;
  readonly action: GceAction;
}

/** By method, collection and the following name or verb. */
const routes: Readonly<Record<string, Route>> = {
  "POST instances": {
    operation: "instances.insert",
    permission: "compute.instances.create",
    action: insertInstance,
  },
  "GET instances": { operation: "instances.list", permission: "compute.instances.list", action: listInstances },
  "GET instances/*": { operation: "instances.get", permission: "compute.instances.get", action: getInstance },
  "DELETE instances/*": {
    operation: "instances.delete",
    permission: "compute.instances.delete",
    action: deleteInstance,
  },
  "GET disks": { operation: "disks.list", permission: "compute.disks.list", action: listDisks },
  "DELETE disks/*": { operation: "disks.delete", permission: "compute.disks.delete", action: deleteDisk },
  "GET operations": {
    operation: "zoneOperations.list",
    permission: "compute.zoneOperations.list",
    action: listOperations,
  },
  "GET operations/*": {
    operation: "zoneOperations.get",
    permission: "compute.zoneOperations.get",
    action: getOperation,
  },
  "POST operations/*/wait": {
    operation: "zoneOperations.wait",
    permission: "compute.zoneOperations.get",
    action: waitForOperation,
  },
  "GET machineTypes/*": {
    operation: "machineTypes.get",
    permission: "compute.machineTypes.get",
    action: getMachineType,
  },
};

interface Target {
  readonly route: Route | undefined;
  readonly project: string;
  readonly zone: string;
  readonly name: string;
}

const zonal = /^\/compute\/v1\/projects\/([^/]+)\/zones\/([^/]+)\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

function targetOf({ method, url }: EmulatorRequest): Target | undefined {
  const match = zonal.exec(url.pathname);
  if (match === null) return undefined;
  const [project = "", zone = "", collection = "", name = "", verb = ""] = match
    .slice(1)
    .map((part) => decodeURIComponent(part ?? ""));
  const shape = `${method} ${collection}${name === "" ? "" : "/*"}${verb === "" ? "" : `/${verb}`}`;
  return { route: Object.hasOwn(routes, shape) ? routes[shape] : undefined, project, zone, name };
}

interface TokenRoute {
  readonly operation: string;
  readonly answer: (request: EmulatorRequest, world: GceWorld) => EmulatorReply;
}

const tokenRoutes = {
  oauth: { operation: "oauth2.token", answer: exchangeAssertion },
  sts: { operation: "sts.token", answer: exchangeIdentity },
  impersonation: { operation: "iamcredentials.generateAccessToken", answer: impersonate },
  metadataToken: { operation: "metadata.token", answer: answerMetadata },
  metadataProject: { operation: "metadata.project", answer: answerMetadata },
} as const satisfies Readonly<Record<string, TokenRoute>>;

/** The action of a token request or of one to the metadata server; undefined for any other request. */
function tokenRouteOf({ method, url }: EmulatorRequest): TokenRoute | undefined {
  if (method === "GET" && url.pathname === metadataPaths.token) return tokenRoutes.metadataToken;
  if (method === "GET" && url.pathname === metadataPaths.project) return tokenRoutes.metadataProject;
  if (method !== "POST") return undefined;
  if (url.pathname === tokenPaths.oauth) return tokenRoutes.oauth;
  if (url.pathname === tokenPaths.sts) return tokenRoutes.sts;
  return tokenPaths.impersonation.test(url.pathname) ? tokenRoutes.impersonation : undefined;
}

async function answer(request: EmulatorRequest, world: GceWorld): Promise<EmulatorReply> {
  const tokenRoute = tokenRouteOf(request);
  if (tokenRoute !== undefined) return tokenRoute.answer(request, world);
  const user = authenticate(request, world);
  const permissionsProject = permissionsProjectOf(request);
  if (permissionsProject !== undefined) return testIamPermissions(world, permissionsProject, request.body);
  const catalogRoute = catalogRouteOf(request);
  if (catalogRoute !== undefined) return catalogRoute.answer(world);
  const target = targetOf(request);
  if (target?.route === undefined) throw notFound(request.url.pathname);
  const { project, zone, name, route } = target;
  if (!world.projects.has(project)) throw notFound(`projects/${project}`);
  if (!world.zones.has(zone)) {
    throw new GceRefusal("invalid", `Invalid value for field 'zone': '${zone}'. Unknown zone.`);
  }
  const call: GceCall = { world, request, project, zone, name, user };
  demand(call, route.permission);
  world.settle();
  return route.action(call);
}

/** The name in the body of an insertion, for the log. */
const nameInBody = (body: string): readonly string[] => {
  const match = /"name":\s*"([a-z0-9-]+)"/.exec(body);
  return match?.[1] === undefined ? [] : [match[1]];
};

/** Compute Engine behind the server of all emulators. */
function emulatorOf(world: GceWorld): Emulator {
  return {
    identify(request) {
      const tokenRoute = tokenRouteOf(request);
      if (tokenRoute !== undefined) return { operation: tokenRoute.operation, subjects: [], account: "tokens" };
      const project = permissionsProjectOf(request);
      if (project !== undefined)
        return { operation: "cloudresourcemanager.projects.testIamPermissions", subjects: [project], account: project };
      const catalogRoute = catalogRouteOf(request);
      if (catalogRoute !== undefined) {
        const { operation, at } = catalogRoute;
        return { operation, subjects: [at.project, at.region, at.name], account: at.project };
      }
      const target = targetOf(request);
      return {
        operation: target?.route?.operation ?? "",
        subjects: [
          ...(target === undefined ? [] : [target.project, target.zone, target.name]),
          ...(request.method === "POST" ? nameInBody(request.body) : []),
        ],
        account: target?.project ?? "",
      };
    },
    async answer(request) {
      try {
        return await answer(request, world);
      } catch (error) {
        if (error instanceof GceRefusal) return refusalReply(error);
        throw error;
      }
    },
    refuse: refusalReply,
    findDifferences,
    throttled: {
      code: "rateLimitExceeded",
      message:
        "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'compute.googleapis.com' for consumer 'project_number:1'.",
    },
  };
}

/** Creates an emulated Compute Engine. Call `listen` to start it. */
export function createGceEmulator(options: GceEmulatorOptions = {}): GceEmulator {
  const world = createGceWorld(options);
  const keyed = (name: string): readonly [string, Instance] => {
    world.settle();
    const found = [...world.instances].find(([, instance]) => instance.name === name);
    if (found === undefined) throw new Error(`the emulated Compute Engine has no instance ${name}`);
    return found;
  };
  return {
    ...createEmulatorServer(emulatorOf(world), options),
    world,
    inventory() {
      world.settle();
      return {
        instances: [...world.instances.values()].map((instance) => ({ ...instance, status: world.status(instance) })),
        disks: [...world.disks.values()],
      };
    },
    token: (user = "tests@example.com") => issueToken(world, user).token,
    reclaim(name) {
      const [key, instance] = keyed(name);
      const nowMs = world.nowMs();
      world.begin({
        id: world.nextId(),
        name: `systemevent-${world.random.hex(6)}`,
        project: instance.project,
        zone: instance.zone,
        operationType: "compute.instances.preempted",
        collection: "instances",
        targetId: instance.id,
        targetName: name,
        user: "system",
        startedAtMs: nowMs,
        insertTime: world.timestamp(),
        doneAtMs: nowMs,
      });
      if (instance.resource.scheduling.instanceTerminationAction === "DELETE") removeInstance({ world }, key);
      else instance.stoppedAtMs = nowMs;
    },
    stop(name) {
      keyed(name)[1].stoppedAtMs = world.nowMs();
    },
    hold(name, status) {
      keyed(name)[1].heldStatus = status;
    },
    remove(name, { keepDisks = false } = {}) {
      const [key, { id }] = keyed(name);
      for (const disk of world.disks.values()) if (keepDisks && disk.instanceId === id) disk.autoDelete = false;
      removeInstance({ world }, key);
    },
    attachDisk(name, diskName) {
      const [, { id, project, zone }] = keyed(name);
      const disk: Disk = {
        id: world.nextId(),
        name: diskName,
        project,
        zone,
        type: "pd-ssd",
        sizeGb: 20,
        sourceImage: "",
        labels: {},
        boot: false,
        autoDelete: false,
        instanceId: id,
      };
      world.disks.set(`${project}/${zone}/${diskName}`, disk);
    },
  };
}
