import { systemClock } from "@millwright/base";
import {
  createEmulatorServer,
  type Emulator,
  type EmulatorReply,
  type EmulatorRequest,
  type EmulatorServer,
  type EmulatorServerOptions,
  selfSignedCertificate,
} from "../server/index.ts";
import { answerLogin, authenticate, callerOf, readLogin } from "./access-tokens.ts";
import { checkApiVersion } from "./api-versions.ts";
import { type ArmAction, type ArmCall, empty, json } from "./call.ts";
import {
  checkGroup,
  getAgreement,
  getImage,
  getPrivateImage,
  getSubnet,
  listPermissions,
  listSkus,
  listUsages,
  putAgreement,
} from "./catalog.ts";
import { deleteDisk, getDisk, listDisks, putDisk } from "./disks.ts";
import { modelDifferences } from "./model/differences.ts";
import { olderModelDifferences } from "./older-models/older-differences.ts";
import { deleteNic, getNic, listNics, putNic } from "./network-interfaces.ts";
import { authorize } from "./permissions.ts";
import { ArmRefusal, refusalReply } from "./refusal.ts";
import { queryGraph } from "./resource-graph.ts";
import { keyOf, nameOf, readResourcePath, type ResourcePath } from "./resource-path.ts";
import type { Disk, NetworkInterface, VirtualMachine } from "./resources.ts";
import { deleteVm, getVm, listVms, patchVm, putVm, removeVm } from "./virtual-machines.ts";
import { type ArmWorld, type ArmWorldOptions, createArmWorld } from "./world.ts";

/** Initial state and behavior of an emulated ARM. */
export interface ArmEmulatorOptions extends ArmWorldOptions, Omit<EmulatorServerOptions, "clock" | "random"> {
  /** Additional names of its certificate, for clients that check Azure's own; not for one of `tls`. */
  readonly hosts?: readonly string[];
}

/** Remaining resources. */
export interface ArmInventory {
  readonly vms: readonly VirtualMachine[];
  readonly nics: readonly NetworkInterface[];
  readonly disks: readonly Disk[];
}

/** Azure Resource Manager, and Entra ID's tokens for applications, behind one TLS server. */
export interface ArmEmulator extends EmulatorServer {
  /** The state: a test may change it, for example its `capacity`, `sizes` and `applications`. */
  readonly world: ArmWorld;
  /** The certificate for clients to trust, as PEM. */
  readonly ca: string;
  inventory(): ArmInventory;
  /** Responds to a request at once and without a connection, for clients with a virtual clock. */
  answer(request: EmulatorRequest): EmulatorReply;
  /** The VM of that name. */
  vm(name: string): VirtualMachine;
  /** Evicts a spot VM: it is deallocated or deleted by its eviction policy. */
  evict(name: string): void;
  /** Deletes a VM and its resources at once, as a user of the portal does. */
  remove(name: string): void;
  /** Cancels the operation of a VM, as a user of the portal does: the VM stays, and never runs. */
  cancel(name: string): void;
}

/** Operations by the names of Azure's REST specification: method and address below the provider, names left out. */
const routes: Readonly<Record<string, readonly [string, ArmAction]>> = {
  "HEAD ": ["ResourceGroups_CheckExistence", checkGroup],
  "GET microsoft.authorization/permissions": ["Permissions_ListForResourceGroup", listPermissions],
  "GET microsoft.network/virtualnetworks/*/subnets/*": ["Subnets_Get", getSubnet],
  "GET microsoft.compute/images/*": ["Images_Get", getPrivateImage],
  "GET microsoft.compute/galleries/*/images/*/versions/*": ["GalleryImageVersions_Get", getPrivateImage],
  "GET microsoft.compute/locations/*/usages": ["Usage_List", listUsages],
  "GET microsoft.network/networkinterfaces": ["NetworkInterfaces_List", listNics],
  "GET microsoft.network/networkinterfaces/*": ["NetworkInterfaces_Get", getNic],
  "PUT microsoft.network/networkinterfaces/*": ["NetworkInterfaces_CreateOrUpdate", putNic],
  "DELETE microsoft.network/networkinterfaces/*": ["NetworkInterfaces_Delete", deleteNic],
  "GET microsoft.compute/disks": ["Disks_ListByResourceGroup", listDisks],
  "GET microsoft.compute/disks/*": ["Disks_Get", getDisk],
  "PUT microsoft.compute/disks/*": ["Disks_CreateOrUpdate", putDisk],
  "DELETE microsoft.compute/disks/*": ["Disks_Delete", deleteDisk],
  "GET microsoft.compute/virtualmachines": ["VirtualMachines_List", listVms],
  "GET microsoft.compute/virtualmachines/*": ["VirtualMachines_Get", getVm],
  "PUT microsoft.compute/virtualmachines/*": ["VirtualMachines_CreateOrUpdate", putVm],
  "PATCH microsoft.compute/virtualmachines/*": ["VirtualMachines_Update", patchVm],
  "DELETE microsoft.compute/virtualmachines/*": ["VirtualMachines_Delete", deleteVm],
  "GET microsoft.compute/locations/*/publishers/*/artifacttypes/*/offers/*/skus/*/versions/*": [
    "VirtualMachineImages_Get",
    getImage,
  ],
  "GET microsoft.compute/skus": ["ResourceSkus_List", listSkus],
  "GET microsoft.marketplaceordering/offertypes/*/publishers/*/offers/*/plans/*/agreements/*": [
    "MarketplaceAgreements_Get",
    getAgreement,
  ],
  "PUT microsoft.marketplaceordering/offertypes/*/publishers/*/offers/*/plans/*/agreements/*": [
    "MarketplaceAgreements_Create",
    putAgreement,
  ],
  "GET microsoft.compute/locations/*/operations/*": ["Operations_Get", getOperation],
  "GET microsoft.compute/locations/*/diskoperations/*": ["Operations_Get", getOperation],
  "GET microsoft.network/locations/*/operations/*": ["Operations_Get", getOperation],
  "GET microsoft.network/locations/*/operationresults/*": ["Operations_Get", getOperation],
};

/** Types and names alternate below a provider; the route keeps the types. `artifacttypes` and `vmimage` count as such a pair too. */
function routeOf(method: string, { provider, segments }: ResourcePath): string {
  if (provider === "") return `${method} `;
  const parts = segments.map((part, index) => (index % 2 === 0 ? part.toLowerCase() : "*"));
  return `${method} ${[provider.toLowerCase(), ...parts].join("/")}`;
}

function getOperation({ world, path, request, origin }: ArmCall): EmulatorReply {
  const id = path.segments.at(-1) ?? "";
  const operation = world.operations.byId(id);
  if (operation === undefined) throw new ArmRefusal("NotFound", `The operation ${id} is not known.`, 404);
  const { pollAfterS } = world.options;
  const later: Readonly<Record<string, string>> = pollAfterS === undefined ? {} : { "retry-after": String(pollAfterS) };
  const { failure } = operation;
  const isResult = path.segments.at(-2)?.toLowerCase() === "operationresults";
  if (isResult || request.url.searchParams.get("monitor") === "true") {
    if (!operation.isOver)
      return empty(202, { ...later, location: `${origin}${request.url.pathname}${request.url.search}` });
    return failure === undefined ? empty(204) : refusalReply({ code: failure.code, message: failure.message });
  }
  const times = { startTime: world.now().toISOString(), name: id };
  if (!operation.isOver) return json(200, { ...times, status: "InProgress" }, later);
  if (failure === undefined) return json(200, { ...times, endTime: times.startTime, status: "Succeeded" });
  return json(200, {
    ...times,
    endTime: times.startTime,
    status: failure.status ?? "Failed",
    ...(failure.status === "Canceled" ? {} : { error: { code: failure.code, message: failure.message } }),
  });
}

const graphPath = "/providers/microsoft.resourcegraph/resources";

/** ARM behind the server of all emulators. */
function emulatorOf(world: ArmWorld): Omit<Emulator, "answer"> & Pick<ArmEmulator, "answer"> {
  const identified = (reply: EmulatorReply): EmulatorReply => ({
    ...reply,
    headers: {
      "x-ms-request-id": world.random.uuid(),
      "x-ms-correlation-request-id": world.random.uuid(),
      ...reply.headers,
    },
  });
  const actionOf = (request: Pick<EmulatorRequest, "method" | "url">): readonly [string, ArmAction | undefined] => {
    const login = readLogin(request.url.pathname);
    if (login !== undefined) return [login.kind === "token" ? "Token" : "OpenIdConfiguration", undefined];
    if (request.url.pathname.toLowerCase() === graphPath) return ["Resources", queryGraph];
    const path = readResourcePath(request.url.pathname);
    return (path === undefined ? undefined : routes[routeOf(request.method, path)]) ?? ["", undefined];
  };

  return {
    identify(request) {
      const names = request.url.pathname.split("/").map(decodeURIComponent);
      const operation = world.operations.byId(names.at(-1) ?? "");
      return {
        operation: actionOf(request)[0],
        subjects: [...names, ...(operation === undefined ? [] : [nameOf(operation.resourceId)])].filter(
          (name) => name !== "",
        ),
        account: callerOf(world, request),
      };
    },
    answer(request) {
      const origin = `https://${request.headers.host ?? ""}`;
      try {
        if (readLogin(request.url.pathname) !== undefined) return answerLogin(world, request, origin);
        const path = readResourcePath(request.url.pathname) ?? {
          subscription: "",
          group: "",
          provider: "",
          segments: [],
        };
        authenticate(world, request, path.subscription);
        authorize(world, request.method, path);
        const [name, action] = actionOf(request);
        if (action === undefined)
          throw new ArmRefusal("InvalidRequestUri", `No action ${request.method} ${request.url.pathname}.`, 404);
        checkApiVersion(world, request, path);
        if (
          path.group !== "" &&
          name !== "ResourceGroups_CheckExistence" &&
          !world.groups.has(path.group.toLowerCase())
        ) {
          throw new ArmRefusal("ResourceGroupNotFound", `Resource group '${path.group}' could not be found.`);
        }
        world.operations.settle();
        return identified(action({ world, request, path, origin }));
      } catch (error) {
        if (error instanceof ArmRefusal) return identified(refusalReply(error));
        throw error;
      }
    },
    refuse: (refusal) => identified(refusalReply(refusal)),
    findDifferences: (exchange) => [...modelDifferences(exchange), ...olderModelDifferences(exchange)],
    throttled: { code: "TooManyRequests", message: "The request is being throttled.", retryAfterS: 1 },
  };
}

/** Creates an emulated ARM. Call `listen` to start it. */
export function createArmEmulator(options: ArmEmulatorOptions = {}): ArmEmulator {
  const world = createArmWorld(options);
  // Clients use their own clock.
  const tls = options.tls ?? selfSignedCertificate(systemClock.now(), options.hosts);
  const emulator = emulatorOf(world);
  const server = createEmulatorServer(emulator, { ...options, tls });
  const vm = (name: string): VirtualMachine => {
    world.operations.settle();
    const found = [...world.vms.values()].find((candidate) => keyOf(candidate.name) === keyOf(name));
    if (found === undefined) throw new Error(`the emulated ARM has no VM ${name}`);
    return found;
  };
  return {
    ...server,
    answer: (request) => emulator.answer(request),
    world,
    ca: tls.cert,
    inventory() {
      world.operations.settle();
      return {
        vms: [...world.vms.values()],
        nics: [...world.nics.values()],
        disks: [...world.disks.values()],
      };
    },
    vm,
    evict(name) {
      const taken = vm(name);
      if (taken.body.properties.evictionPolicy === "Delete") removeVm(world, taken);
      else taken.power = "deallocated";
    },
    remove: (name) => removeVm(world, vm(name)),
    cancel(name) {
      const stopped = vm(name);
      const failure = { code: "Canceled", message: "The operation was canceled.", status: "Canceled" } as const;
      world.operations.preempt(stopped.id, failure);
      stopped.provisioningState = "Failed";
      stopped.failure = failure;
    },
  };
}
