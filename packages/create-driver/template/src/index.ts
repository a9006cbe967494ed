import {
  defineDriver,
  isMachineError,
  type ListMachinesRequest,
  MachineError,
  type MachineIdentity,
} from "@millwright/core";
import { asOpenOutcome, csiHandleOf, ownsVm, severalVms } from "@millwright/core/driver-kit";
import * as z from "zod";
import { type Call, type Cloud, createVm, deleteVm, listVms, type Vm } from "./cloud.ts";

/** `providerSpec` of a MachineClass: what the cloud needs to know to create a VM. */
const specSchema = z.strictObject({
  endpoint: z.url(),
  /** Separates the VMs of this cluster from those of others in the same account. */
  cluster: z.string().min(1).max(63),
  size: z.enum(["small", "large"]),
});

type Spec = z.output<typeof specSchema>;

/** Keys of the class secret. */
const secretSchema = z.object({ token: z.string().min(8) });

/** The cloud of a call. Read credentials in each call, because they may change. */
const cloudOf = ({ machineClass: { spec }, secret }: ListMachinesRequest<Spec>): Cloud => ({
  endpoint: spec.endpoint,
  token: secret["token"]?.reveal() ?? "",
});

/** Tags by which a VM is found again. They are set in the request that creates it. */
const tagsOf = ({ name, namespace, uid }: MachineIdentity, { cluster }: Spec) => ({
  cluster,
  machine: name,
  namespace,
  uid,
});

const providerIdOf = ({ id }: Vm): string => `my-cloud:///${id}`;

/** Whether a VM was created for a machine; the same rule holds in every driver. */
const isOfMachine = (vm: Vm, machine: MachineIdentity, { cluster }: Spec): boolean =>
  ownsVm(machine, {
    machineName: vm.tags["machine"] ?? "",
    namespace: vm.tags["namespace"] ?? "",
    machineUid: vm.tags["uid"] ?? "",
    isOfCluster: vm.tags["cluster"] === cluster,
    isNamedById: machine.providerId === providerIdOf(vm),
  });

/** The node name is the name under which the kubelet registers. */
const referenceOf = (vm: Vm) => ({ providerId: providerIdOf(vm), nodeName: vm.tags["machine"] ?? vm.id });

const longestNodeName = 63;

/** For how long the cloud may not list a new VM, milliseconds. */
const hiddenMs = 100;

/** Waits for what the cloud does later. The deadline of the call ends it. */
async function until({ signal, clock }: Call, isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await clock.sleep(10, signal);
}

export default defineDriver<Spec>({
  name: "my-cloud",
  spec: specSchema,
  secret: secretSchema,

  async createMachine(request, call) {
    const { machine, idempotencyToken, userData } = request;
    const { spec } = request.machineClass;
    const cloud = cloudOf(request);
    if (machine.name.length > longestNodeName)
      throw new MachineError("InvalidArgument", `the name of the machine has more than ${longestNodeName} characters`);
    const newVm = {
      token: idempotencyToken,
      size: spec.size,
      userData: Buffer.from(userData.revealBytes()).toString("base64"),
      tags: tagsOf(machine, spec),
    };
    // An earlier attempt may have created the VM: look for it first.
    const [existing, ...others] = (await listVms(cloud, call, machine.name)).filter(
      ({ tags }) => tags["cluster"] === spec.cluster,
    );
    if (existing !== undefined && others.length > 0) throw severalVms(machine, [existing, ...others].map(providerIdOf));
    const vm = existing ?? (await createVm(cloud, newVm, call));
    if (!isOfMachine(vm, machine, spec))
      throw new MachineError("AlreadyExists", `VM ${vm.id} of another machine has the name ${machine.name}`);
    if (vm.size !== spec.size) throw new MachineError("AlreadyExists", `VM ${vm.id} has size ${vm.size}`);
    // Until it is listed, getMachineStatus would report that the machine has no VM. If this fails, the VM exists nevertheless.
    await until(call, async () => (await listVms(cloud, call, machine.name)).some(({ id }) => id === vm.id)).catch(
      (error: unknown) => {
        throw isMachineError(error) ? asOpenOutcome(error) : error;
      },
    );
    return referenceOf(vm);
  },

  async getMachineStatus(request, call) {
    const { machine } = request;
    const { spec } = request.machineClass;
    const vms = await listVms(cloudOf(request), call, machine.name);
    const [vm, ...others] = vms.filter((each) => isOfMachine(each, machine, spec));
    if (vm === undefined) throw new MachineError("NotFound", `machine ${machine.name} has no VM`);
    if (others.length > 0) throw severalVms(machine, [vm, ...others].map(providerIdOf));
    return referenceOf(vm);
  },

  async deleteMachine(request, call) {
    const { machine } = request;
    const { spec } = request.machineClass;
    // A provider id names the VM to delete. It may never have been stored: then the VM is found by its tags.
    const { providerId = "" } = machine;
    const isNamed = (vm: Vm) => (providerId === "" ? isOfMachine(vm, machine, spec) : providerIdOf(vm) === providerId);
    const cloud = cloudOf(request);
    const find = async () => (await listVms(cloud, call)).filter(isNamed);
    let vms = await find();
    if (vms.length === 0) {
      // That of an interrupted creation may not be listed yet.
      await call.clock.sleep(hiddenMs, call.signal);
      vms = await find();
    }
    if (!vms.every((vm) => isOfMachine(vm, machine, spec)))
      throw new MachineError("PermissionDenied", `VM ${providerId} is not of machine ${machine.name}`);
    for (const { id } of vms) await deleteVm(cloud, id, call);
    await until(call, async () => (await find()).length === 0);
    // Without a VM: these credentials may be of another account, in which it does not exist.
    return { vm: vms.length > 0 ? "ended" : "missing" };
  },

  async listMachines(request, call) {
    const { spec } = request.machineClass;
    const own = (await listVms(cloudOf(request), call)).filter(({ tags }) => tags["cluster"] === spec.cluster);
    return {
      machines: own.map((vm) => ({
        providerId: providerIdOf(vm),
        machineName: vm.tags["machine"] ?? "",
        machineNamespace: vm.tags["namespace"] ?? "",
        machineUid: vm.tags["uid"] ?? "",
      })),
    };
  },

  /** Ids by which nodes report attached volumes: for volumes of a CSI driver the handle. */
  getVolumeIds: async ({ volumes }) => ({
    volumeIds: volumes.map((volume) => csiHandleOf(volume, "csi.my-cloud.example")),
  }),
});
