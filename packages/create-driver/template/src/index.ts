import { defineDriver, type ListMachinesRequest, MachineError, type MachineIdentity } from "@millwright/core";
import { csiHandleOf, ownsVm, severalVms } from "@millwright/core/driver-kit";
import * as z from "zod";
import { type Cloud, createVm, deleteVm, listVms, type Vm } from "./cloud.ts";

/** `providerSpec` of a MachineClass: what the cloud needs to know to create a VM. */
const specSchema = z.strictObject({
  /** Place of the cloud; for a real one a region or an endpoint. */
  folder: z.string().min(1),
  /** Separates the VMs of this cluster from those of others in the same account. */
  cluster: z.string().min(1).max(63),
  size: z.enum(["small", "large"]),
});

type Spec = z.output<typeof specSchema>;

/** The cloud of a call. Credentials are in `secret`: read them in each call, because they may change. */
const cloudOf = ({ machineClass: { spec } }: ListMachinesRequest<Spec>): Cloud => ({ folder: spec.folder });

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

export default defineDriver<Spec>({
  name: "my-cloud",
  spec: specSchema,

  async createMachine(request, { signal }) {
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
    const [existing, ...others] = (await listVms(cloud, signal)).filter(
      ({ tags }) => tags["cluster"] === spec.cluster && tags["machine"] === machine.name,
    );
    if (existing !== undefined && others.length > 0) throw severalVms(machine, [existing, ...others].map(providerIdOf));
    const vm = existing ?? (await createVm(cloud, newVm, signal));
    if (!isOfMachine(vm, machine, spec))
      throw new MachineError("AlreadyExists", `VM ${vm.id} of another machine has the name ${machine.name}`);
    if (vm.size !== spec.size) throw new MachineError("AlreadyExists", `VM ${vm.id} has size ${vm.size}`);
    return referenceOf(vm);
  },

  async getMachineStatus(request, { signal }) {
    const { machine } = request;
    const { spec } = request.machineClass;
    const vms = await listVms(cloudOf(request), signal);
    const [vm, ...others] = vms.filter((each) => isOfMachine(each, machine, spec));
    if (vm === undefined) throw new MachineError("NotFound", `machine ${machine.name} has no VM`);
    if (others.length > 0) throw severalVms(machine, [vm, ...others].map(providerIdOf));
    return referenceOf(vm);
  },

  async deleteMachine(request, { signal }) {
    const { machine } = request;
    const { spec } = request.machineClass;
    // A provider id names the VM to delete. It may never have been stored: then the VM is found by its tags.
    const { providerId = "" } = machine;
    const cloud = cloudOf(request);
    const all = await listVms(cloud, signal);
    const named = providerId === "" ? all : all.filter((vm) => providerIdOf(vm) === providerId);
    const own = named.filter((vm) => isOfMachine(vm, machine, spec));
    if (providerId !== "" && named.length > own.length)
      throw new MachineError("PermissionDenied", `VM ${providerId} is not of machine ${machine.name}`);
    for (const { id } of own) await deleteVm(cloud, id, signal);
    // Without a VM: these credentials may be of another account, in which it does not exist.
    return { vm: own.length > 0 ? "ended" : "missing" };
  },

  async listMachines(request, { signal }) {
    const { spec } = request.machineClass;
    const own = (await listVms(cloudOf(request), signal)).filter(({ tags }) => tags["cluster"] === spec.cluster);
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
