import type { SecretData } from "@millwright/base";
import {
  type CreateMachineRequest,
  defineDriver,
  type Driver,
  type DriverContext,
  type DriverDefinition,
  MachineError,
  type MachineIdentity,
  matchNodeByProviderId,
} from "@millwright/core";
import { csiHandleOf, severalVms } from "@millwright/core/driver-kit";
import {
  rightSteps,
  type SeenVm,
  type ToyCall,
  toySecretSchema,
  type ToySpec,
  toySpecSchema,
  type ToySteps,
} from "./toy-steps.ts";

/** Parts of a driver that replace those of the right one. */
export interface ToyChange {
  readonly steps?: (right: ToySteps) => Partial<ToySteps>;
  readonly methods?: (right: Driver<ToySpec>) => Partial<Driver<ToySpec>>;
}

const maxNodeName = 63;

/** The driver of the toy cloud: right, unless something is replaced. */
export function createToyDriver(endpoint: string, change: ToyChange = {}): Driver<ToySpec> {
  const right = rightSteps(() => steps);
  const steps: ToySteps = { ...right, ...change.steps?.(right) };
  const driver = defineToyDriver(endpoint, steps);
  return { ...driver, ...change.methods?.(driver) };
}

const referenceOf = ({ id, name }: Pick<SeenVm, "id" | "name">) => ({
  providerId: `toy:///${id}`,
  nodeName: name,
  addresses: [{ type: "Hostname", address: name }],
});

const isLive = ({ state }: SeenVm): boolean => state === "booting" || state === "running";

async function create(steps: ToySteps, call: ToyCall, request: CreateMachineRequest<ToySpec>) {
  const { machine, machineClass, idempotencyToken, userData } = request;
  const { spec } = machineClass;
  if (machine.name.length > maxNodeName)
    throw new MachineError("InvalidArgument", "the name has more than 63 characters");
  const fingerprint = steps.fingerprint(spec, userData.reveal());
  const [existing, ...more] = (await steps.list(call, machine.name)).filter(
    (vm) => isLive(vm) && vm.tags["toy/cluster"] === spec.cluster,
  );
  if (more.length > 0)
    throw severalVms(
      machine,
      [existing, ...more].map((vm) => `toy:///${vm?.id}`),
    );
  if (existing !== undefined) {
    if (!steps.owns(existing, machine, spec.cluster))
      throw new MachineError("AlreadyExists", "the VM is of another machine");
    if (existing.tags["toy/spec"] !== fingerprint) throw new MachineError("AlreadyExists", "the VM is of another spec");
    return existing;
  }
  const disk = await steps.send(call, "POST", "/disks", { token: `${idempotencyToken}-disk`, machine: machine.name });
  const { id } = await steps.send(call, "POST", "/vms", {
    token: idempotencyToken,
    name: machine.name,
    image: spec.image,
    size: spec.size,
    bootMs: spec.bootMs,
    disk: disk["id"],
    userData: Buffer.from(userData.revealBytes()).toString("base64"),
    tags: steps.tags(machine, spec, fingerprint),
  });
  return { id: String(id), name: machine.name, state: spec.bootMs > 0 ? "booting" : "running" } as const;
}

const pending = (bootMs: number) => ({
  pending: { message: "the VM is booting", checkAfterMs: Math.ceil(bootMs / 2) },
});

type CallOf = (secret: SecretData, context: DriverContext) => ToyCall;
type FindLive = (call: ToyCall, machine: MachineIdentity, spec: ToySpec) => Promise<SeenVm>;

/** Methods that read, and change nothing. */
function optionalMethods(steps: ToySteps, callOf: CallOf, findLive: FindLive) {
  const methods: Pick<
    DriverDefinition<ToySpec>,
    "findDrift" | "getNodeTemplate" | "checkClass" | "getVolumeIds" | "matchNode"
  > = {
    async findDrift({ machine, machineClass: { spec }, secret }, context) {
      const vm = await findLive(callOf(secret, context), machine, spec);
      const fields = ["image", "size"] as const;
      const differences = fields
        .filter((field) => spec[field] !== vm[field])
        .map((field) => ({ field, wanted: spec[field], found: vm[field] }));
      return { providerId: `toy:///${vm.id}`, differences };
    },
    getNodeTemplate: async ({ machineClass: { spec } }) => ({
      nodeTemplate: { capacity: { cpu: 2, memory: "4Gi" }, instanceType: spec.size, region: "toy", zone: "toy-a" },
    }),
    async checkClass({ machineClass: { spec }, secret }, context) {
      const call = callOf(secret, context);
      const image = await steps.send(call, "GET", `/images/${spec.image}`).then(
        () => ({ status: "ok", message: `image ${spec.image} exists` }) as const,
        () => ({ status: "failed", message: `image ${spec.image} does not exist` }) as const,
      );
      return { checks: [{ name: "Image", ...image }] };
    },
    getVolumeIds: ({ volumes }) =>
      Promise.resolve({ volumeIds: volumes.map((volume) => csiHandleOf(volume, "toy.csi.example")) }),
    // Machines have `toy:///<id>`, Nodes `toy://<zone>/<id>`.
    matchNode: matchNodeByProviderId,
  };
  return methods;
}

function defineToyDriver(endpoint: string, steps: ToySteps): Driver<ToySpec> {
  const callOf = (secret: SecretData, context: DriverContext): ToyCall => ({ endpoint, context, secret });
  const findLive = async (call: ToyCall, machine: MachineIdentity, { cluster }: ToySpec): Promise<SeenVm> => {
    const [vm, ...more] = (await steps.list(call, machine.name)).filter(
      (each) => isLive(each) && steps.owns(each, machine, cluster),
    );
    if (more.length > 0)
      throw severalVms(
        machine,
        [vm, ...more].map((each) => `toy:///${each?.id}`),
      );
    const { providerId = "" } = machine;
    if (vm === undefined || (providerId !== "" && providerId !== `toy:///${vm.id}`))
      throw new MachineError("NotFound", `machine ${machine.name} has no VM`);
    return vm;
  };

  return defineDriver<ToySpec>({
    name: "toy",
    spec: toySpecSchema,
    secret: toySecretSchema,
    async createMachine(request, context) {
      const vm = await create(steps, callOf(request.secret, context), request);
      return vm.state === "booting" ? pending(request.machineClass.spec.bootMs) : referenceOf(vm);
    },
    async deleteMachine({ machine, machineClass: { spec }, secret }, context) {
      const call = callOf(secret, context);
      const { providerId = "" } = machine;
      const all = await steps.list(call);
      const named = all.filter(({ id, name }) =>
        providerId === "" ? name === machine.name : `toy:///${id}` === providerId,
      );
      const own = named.filter((vm) => steps.owns(vm, machine, spec.cluster));
      if (providerId !== "" && named.some((vm) => isLive(vm)) && own.length === 0)
        throw new MachineError("PermissionDenied", "the VM is of another machine; it is kept");
      for (const vm of own) {
        if (vm.state === "terminated") continue;
        await steps.send(call, "DELETE", `/vms/${vm.id}`);
        await steps.untilGone(call, vm.id);
      }
      await steps.removeDisks(call, machine.name);
      return { vm: own.length > 0 ? "ended" : "missing" };
    },
    async getMachineStatus({ machine, machineClass: { spec }, secret }, context) {
      const vm = await findLive(callOf(secret, context), machine, spec);
      if (vm.state === "booting") throw new MachineError("NotFound", `the VM of machine ${machine.name} is booting`);
      return { ...referenceOf(vm), initialized: vm.tags["toy/initialized"] === "true" };
    },
    async listMachines({ machineClass: { spec }, secret }, context) {
      const vms = await steps.list(callOf(secret, context));
      const own = vms.filter((vm) => vm.state !== "terminated" && vm.tags["toy/cluster"] === spec.cluster);
      return {
        machines: own.map(({ id, tags }) => ({
          providerId: `toy:///${id}`,
          machineName: tags["toy/machine"] ?? "",
          machineUid: tags["toy/uid"] ?? "",
          machineNamespace: tags["toy/namespace"] ?? "",
        })),
      };
    },
    async initializeMachine({ machine, machineClass: { spec }, secret }, context) {
      const call = callOf(secret, context);
      const vm = await findLive(call, machine, spec);
      await steps.send(call, "PATCH", `/vms/${vm.id}`, { tags: { "toy/initialized": "true" } });
      return referenceOf(vm);
    },
    ...optionalMethods(steps, callOf, findLive),
  });
}
