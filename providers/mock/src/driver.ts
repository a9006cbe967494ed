import { createHash } from "node:crypto";
import {
  type DeleteMachineResponse,
  type Driver,
  type DriverContext,
  MachineError,
  type MachineIdentity,
  type MachineRequest,
  type PendingResponse,
  type SecretData,
  defineDriver,
  systemClock,
} from "@millwright/core";
import { csiHandleOf, severalVms } from "@millwright/core/driver-kit";
import { checkClass } from "./check-class.ts";
import { createCloudClient } from "./cloud-client.ts";
import { isCloudError } from "./cloud-error.ts";
import type { MockCloud } from "./cloud.ts";
import { type DriverCloud, reporting } from "./reporting.ts";
import { endpointRule, isCloudEndpoint, mockSecretSchema } from "./endpoint.ts";
import { toMachineError } from "./errors.ts";
import { differencesOf } from "./differences.ts";
import { machineTypes } from "./machine-type.ts";
import { canonicalJson } from "./new-vm.ts";
import { clusterTags, isOfCluster, isOwnedBy, nameTags, ownerTagKeys } from "./owner-tags.ts";
import { type MockSpec, mockSpecSchema, mockVmSpecSchema } from "./spec.ts";
import { type Vm, isLive } from "./vm.ts";

/** The CSI driver whose volumes count as this cloud's. */
export const mockCsiDriver = "mock.csi.millwright.dev";

/** Options of {@link createMockDriver}. */
export interface MockDriverOptions {
  /** The cloud to talk to; by default the cloud server that the class secret names in `endpoint`. */
  readonly cloud?: MockCloud;
}

const firstPollMs = 100;
const longestPollMs = 2000;

/** Creates the driver of the simulated cloud. It holds no state: every call finds its VMs by their tags. */
export function createMockDriver(options: MockDriverOptions = {}): Driver<MockSpec> {
  const cloudOf = (secret: SecretData, context: DriverContext): DriverCloud =>
    reporting(options.cloud ?? cloudFromSecret(secret), context);

  return defineDriver<MockSpec>({
    name: "mock",
    spec: mockSpecSchema,
    vmSpec: mockVmSpecSchema,
    ...(options.cloud === undefined ? { secret: mockSecretSchema } : {}),

    createMachine: (request, context) =>
      answering(context, async () => {
        const { machine, machineClass, idempotencyToken } = request;
        const { spec } = machineClass;
        const cloud = cloudOf(request.secret, context);
        const specHash = createHash("sha256").update(canonicalJson(spec)).digest("hex").slice(0, 16);
        const named = await findNamed(cloud, machine, context);
        const existing = named.filter((vm) => isOfCluster(vm, spec.cluster) || isOwnedBy(vm, spec.cluster, machine));
        const [vm, ...more] = existing;
        if (more.length > 0) throw severalVms(machine, idsOf(existing));
        if (vm !== undefined) {
          const reference = adopt(vm, spec, machine, specHash);
          return pendingUntilRunning(vm, spec) ?? reference;
        }
        const created = await cloud.createVm(
          {
            name: machine.name,
            token: idempotencyToken,
            machineType: spec.machineType,
            region: spec.region,
            zone: spec.zone,
            image: spec.image,
            labels: spec.labels,
            ...(spec.bootDelayMs === undefined ? {} : { bootDelayMs: spec.bootDelayMs }),
            tags: {
              ...clusterTags(spec.cluster),
              ...nameTags(machine),
              [ownerTagKeys.namespace]: machine.namespace,
              [ownerTagKeys.machineUid]: machine.uid,
              [ownerTagKeys.machineClass]: machineClass.name,
              [ownerTagKeys.token]: idempotencyToken,
              [ownerTagKeys.specHash]: specHash,
            },
            userData: request.userData.revealBytes(),
          },
          { signal: context.signal },
        );
        return pendingUntilRunning(created, spec) ?? adopt(created, spec, machine, specHash);
      }),

    deleteMachine: (request, context) =>
      answering(context, async () => {
        const cloud = cloudOf(request.secret, context);
        const found = await vmsToDelete(cloud, request, context);
        const ended = answerFor(found.length, request.machine.providerId);
        const going = found.filter(({ state }) => state !== "terminated");
        for (const vm of going) await ignoreNotFound(() => cloud.deleteVm(vm.id, { signal: context.signal }));
        const { checkAfterMs } = request.machineClass.spec;
        if (checkAfterMs !== undefined) return (await pendingUntilGone(cloud, going, checkAfterMs, context)) ?? ended;
        for (const vm of going) await untilGone(cloud, vm, context);
        return ended;
      }),

    getMachineStatus: (request, context) =>
      answering(context, async () => {
        const vm = await findLive(cloudOf(request.secret, context), request, context);
        if (pendingUntilRunning(vm, request.machineClass.spec) !== undefined)
          throw new MachineError(
            "NotFound",
            `VM ${vm.id} of machine "${request.machine.name}" is still being provisioned`,
          );
        return { ...referenceOf(vm), initialized: vm.tags[ownerTagKeys.initialized] === "true" };
      }),

    initializeMachine: (request, context) =>
      answering(context, async () => {
        const cloud = cloudOf(request.secret, context);
        const vm = await findLive(cloud, request, context);
        if (vm.tags[ownerTagKeys.initialized] !== "true") {
          await cloud.tagVm(vm.id, { [ownerTagKeys.initialized]: "true" }, { signal: context.signal });
        }
        return referenceOf(vm);
      }),

    listMachines: (request, context) =>
      answering(context, async () => {
        const tags = clusterTags(request.machineClass.spec.cluster);
        const vms = await cloudOf(request.secret, context).listVms({ tags }, { signal: context.signal });
        return {
          machines: vms.map((vm) => {
            const uid = vm.tags[ownerTagKeys.machineUid] ?? "";
            const machineNamespace = vm.tags[ownerTagKeys.namespace] ?? "";
            return {
              providerId: vm.providerId,
              machineName: vm.tags[ownerTagKeys.machineName] ?? vm.name,
              ...(uid === "" ? {} : { machineUid: uid }),
              ...(machineNamespace === "" ? {} : { machineNamespace }),
            };
          }),
        };
      }),

    findDrift: (request, context) =>
      answering(context, async () => {
        const vm = await findLive(cloudOf(request.secret, context), request, context);
        return { providerId: vm.providerId, differences: differencesOf(request.machineClass.spec, vm) };
      }),

    // What the cloud sells is known without asking it.
    getNodeTemplate: async ({ machineClass: { spec } }) => ({
      nodeTemplate: {
        capacity: { ...machineTypes[spec.machineType], gpu: 0 },
        instanceType: spec.machineType,
        region: spec.region,
        zone: spec.zone,
      },
    }),

    checkClass: (request, context) =>
      answering(context, () => checkClass(request, cloudOf(request.secret, context), context)),

    getVolumeIds: (request) =>
      Promise.resolve({ volumeIds: request.volumes.map((volume) => csiHandleOf(volume, mockCsiDriver)) }),
  });
}

async function answering<T>(context: DriverContext, act: () => Promise<T>): Promise<T> {
  try {
    context.signal.throwIfAborted();
    return await act();
  } catch (error) {
    throw toMachineError(error, context.signal);
  }
}

function cloudFromSecret(secret: SecretData): MockCloud {
  const endpoint = secret["endpoint"]?.reveal().trim();
  if (endpoint === undefined) {
    throw new MachineError("Unauthenticated", `the class secret has no key "endpoint": it ${endpointRule}`);
  }
  if (!isCloudEndpoint(endpoint)) {
    throw new MachineError("InvalidArgument", `key "endpoint" of the class secret ${endpointRule}`);
  }
  const token = secret["token"];
  return createCloudClient({ endpoint, clock: systemClock, ...(token === undefined ? {} : { token }) });
}

function referenceOf(vm: Vm): Pick<Vm, "providerId" | "nodeName" | "addresses"> {
  return { providerId: vm.providerId, nodeName: vm.nodeName, addresses: vm.addresses };
}

/** The VM that is there already, if it is what was asked for. */
function adopt(vm: Vm, spec: MockSpec, machine: MachineIdentity, specHash: string): ReturnType<typeof referenceOf> {
  if (!isLive(vm)) {
    throw new MachineError(
      "Aborted",
      `VM ${vm.id} of this name is ${vm.state}; a new one can be created when it is deleted`,
    );
  }
  if (!isOwnedBy(vm, spec.cluster, machine)) {
    throw new MachineError(
      "AlreadyExists",
      `VM ${vm.id} of an earlier machine "${machine.name}" still exists; delete it first`,
    );
  }
  if (vm.tags[ownerTagKeys.specHash] !== specHash) {
    throw new MachineError("AlreadyExists", `VM ${vm.id} of this machine was created from another providerSpec`);
  }
  return referenceOf(vm);
}

/** The VMs with the machine's name, including terminating ones. The caller checks their owner. */
function findNamed(cloud: DriverCloud, machine: MachineIdentity, context: DriverContext): Promise<readonly Vm[]> {
  return cloud.listVms({ tags: nameTags(machine) }, { signal: context.signal });
}

/** The one VM of a machine that is there to stay. */
async function findLive(cloud: DriverCloud, request: MachineRequest<MockSpec>, context: DriverContext): Promise<Vm> {
  const { machine, machineClass } = request;
  const { cluster } = machineClass.spec;
  const named = await findNamed(cloud, machine, context);
  const live = named.filter((vm) => isOwnedBy(vm, cluster, machine) && isLive(vm));
  if (live.length > 1) throw severalVms(machine, idsOf(live));
  const [vm] = live;
  const { providerId = "" } = machine;
  if (vm === undefined || (providerId !== "" && vm.providerId !== providerId)) {
    const other = vm === undefined ? "" : `; it has ${vm.providerId}`;
    throw new MachineError(
      "NotFound",
      `there is no VM ${providerId} for machine "${machine.name}"${other}`.replace("  ", " "),
    );
  }
  return vm;
}

/**
 * With a provider id exactly that VM, since an orphan may carry the name of a machine that is fine; otherwise all VMs of the machine. VMs that are
 * terminating count: deletion ends when they are gone.
 */
async function vmsToDelete(
  cloud: DriverCloud,
  request: MachineRequest<MockSpec>,
  context: DriverContext,
): Promise<readonly Vm[]> {
  const { machine, machineClass } = request;
  const { cluster } = machineClass.spec;
  const { providerId = "" } = machine;
  if (providerId === "") {
    const named = await findNamed(cloud, machine, context);
    return named.filter((vm) => isOwnedBy(vm, cluster, machine));
  }
  const vm = await ignoreNotFound(() => cloud.getVm(providerId, { signal: context.signal }));
  if (vm === undefined) return [];
  if (vm.state !== "terminated" && !isOwnedBy(vm, cluster, machine)) {
    throw new MachineError(
      "PermissionDenied",
      `VM ${vm.id} does not carry the tags of machine "${machine.name}" in namespace "${machine.namespace}" of cluster "${cluster}"; it is kept`,
    );
  }
  return [vm];
}

/**
 * What a deletion answers that found so many VMs. The simulated cloud shows a VM at once: none was created for a machine without id. One with an id may be in another cloud.
 */
function answerFor(count: number, providerId: string | undefined): DeleteMachineResponse {
  if (count > 0) return { vm: "ended" };
  return { vm: "missing", ...((providerId ?? "") === "" ? { showsNewVms: true } : {}) };
}

/** The response of a cloud with the delays of the class: pending while the VM does not run yet. */
const pendingUntilRunning = (vm: Vm, { checkAfterMs }: MockSpec): PendingResponse | undefined =>
  checkAfterMs !== undefined && (vm.state === "pending" || vm.state === "booting")
    ? { pending: { message: `VM ${vm.id} is booting`, checkAfterMs } }
    : undefined;

/** The same about VMs that are not gone yet. */
async function pendingUntilGone(
  cloud: DriverCloud,
  vms: readonly Vm[],
  checkAfterMs: number,
  context: DriverContext,
): Promise<PendingResponse | undefined> {
  for (const { id } of vms) {
    const now = await ignoreNotFound(() => cloud.getVm(id, { signal: context.signal }));
    if (now !== undefined && now.state !== "terminated")
      return { pending: { message: `VM ${id} is ${now.state}`, checkAfterMs } };
  }
  return undefined;
}

async function untilGone(cloud: DriverCloud, vm: Vm, context: DriverContext): Promise<void> {
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, longestPollMs)) {
    const now = await ignoreNotFound(() => cloud.getVm(vm.id, { signal: context.signal }));
    if (now === undefined || now.state === "terminated") return;
    await context.clock.sleep(pollMs, context.signal);
  }
}

async function ignoreNotFound<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isCloudError(error) && error.code === "NotFound") return undefined;
    throw error;
  }
}

const idsOf = (vms: readonly Vm[]): readonly string[] => vms.map(({ providerId }) => providerId);
