import { type ArmAction, type ArmCall, empty, json, operationHeaders, page, readBody, startOperation } from "./call.ts";
import { diskType, removeDisk } from "./disks.ts";
import { removeNic } from "./network-interfaces.ts";
import { authorizeVmLinks } from "./linked-resources.ts";
import type { OperationFailure } from "./operations.ts";
import { ArmRefusal } from "./refusal.ts";
import { keyOf, nameOf, resourceId } from "./resource-path.ts";
import type { AttachedDisk, VirtualMachine } from "./resources.ts";
import { type VmBody, vmBodySchema, vmPatchSchema } from "./virtual-machine-body.ts";
import {
  capacityFailure,
  checkProfiles,
  checkQuota,
  checkReferences,
  checkUnchanged,
} from "./virtual-machine-checks.ts";
import type { ArmWorld } from "./world.ts";

const type = "Microsoft.Compute/virtualMachines";

const idOf = ({ path }: ArmCall): string => resourceId(path.subscription, path.group, type, path.segments[1] ?? "");

function find(call: ArmCall): VirtualMachine {
  const vm = call.world.vms.get(keyOf(idOf(call)));
  if (vm !== undefined) return vm;
  throw new ArmRefusal(
    "ResourceNotFound",
    `The Resource '${type}/${call.path.segments[1] ?? ""}' under resource group '${call.path.group}' was not found.`,
  );
}

function instanceView({ power, provisioningState, failure }: VirtualMachine) {
  const suffix = failure === undefined ? "" : `/${failure.code}`;
  return {
    statuses: [
      {
        code: `ProvisioningState/${provisioningState.toLowerCase()}${suffix}`,
        level: failure === undefined ? "Info" : "Error",
        ...(failure === undefined ? {} : { message: failure.message }),
      },
      ...(power === undefined ? [] : [{ code: `PowerState/${power}`, level: "Info" }]),
    ],
  };
}

/** A VM as ARM shows it: without its custom data. */
export function vmAnswer(vm: VirtualMachine, isExpanded = false) {
  const { body, disks, nics } = vm;
  const { customData: _, ...osProfile } = body.properties.osProfile;
  const [osDisk, ...dataDisks] = disks;
  const { storageProfile } = body.properties;
  const shown = (
    { diskId, lun, deleteOption, toBeDetached }: AttachedDisk,
    asked: { readonly managedDisk?: object | undefined } | undefined,
  ) => ({
    // Of a disk that was attached later.
    createOption: "Attach",
    ...asked,
    name: nameOf(diskId),
    deleteOption,
    managedDisk: { ...asked?.managedDisk, id: diskId },
    ...(toBeDetached && lun !== undefined ? { toBeDetached } : {}),
  });
  return {
    id: vm.id,
    name: vm.name,
    type,
    location: vm.location,
    tags: vm.tags,
    ...(body.zones === undefined ? {} : { zones: body.zones }),
    ...(body.plan === undefined ? {} : { plan: body.plan }),
    ...(body.identity === undefined ? {} : { identity: body.identity }),
    properties: {
      ...body.properties,
      osProfile,
      vmId: vm.vmId,
      provisioningState: vm.provisioningState,
      timeCreated: new Date(0).toISOString(),
      storageProfile: {
        ...storageProfile,
        ...(osDisk === undefined ? {} : { osDisk: { osType: "Linux", ...shown(osDisk, storageProfile.osDisk) } }),
        dataDisks: dataDisks.map((disk) => ({
          lun: disk.lun,
          ...shown(
            disk,
            storageProfile.dataDisks?.find(({ lun }) => lun === disk.lun),
          ),
        })),
      },
      networkProfile: {
        networkInterfaces: nics.map(({ nicId, deleteOption }) => ({
          id: nicId,
          properties: { primary: true, deleteOption },
        })),
      },
      ...(isExpanded ? { instanceView: instanceView(vm) } : {}),
    },
  };
}

/** GET of a VM. */
export const getVm: ArmAction = (call) =>
  json(200, vmAnswer(find(call), call.request.url.searchParams.get("$expand")?.toLowerCase() === "instanceview"));

/** GET of the VMs of a resource group. */
export const listVms: ArmAction = (call) =>
  page(
    call,
    [...call.world.vms.values()]
      .filter(({ group }) => group === call.path.group.toLowerCase())
      .map((vm) => vmAnswer(vm)),
  );

/** PUT of a VM. */
export const putVm: ArmAction = (call) => {
  const { world, request } = call;
  const id = idOf(call);
  const known = world.vms.get(keyOf(id));
  if (known !== undefined && request.headers["if-none-match"] === "*") {
    throw new ArmRefusal("PreconditionFailed", `The resource '${id}' exists already.`);
  }
  const body = readBody(call, vmBodySchema);
  return known === undefined ? create(call, id, body) : update(call, known, body);
};

function create(call: ArmCall, id: string, body: VmBody) {
  const { world, path } = call;
  authorizeVmLinks(call, body);
  checkProfiles(body);
  checkReferences(world, id, body);
  checkQuota(world, body);
  const lack = capacityFailure(world, body);
  const failure = lack ?? world.vmFailures.get(nameOf(id));
  world.vmFailures.delete(nameOf(id));
  if (lack !== undefined && world.options.refusesCapacityAtOnce === true) {
    // Azure reserves the NIC for a rejected VM, too.
    for (const { id: nicId } of body.properties.networkProfile.networkInterfaces) reserveNic(world, nicId, id);
    throw new ArmRefusal(lack.code, lack.message);
  }
  const disks = disksOf(call, body);
  for (const { diskId, lun } of disks) {
    const taken = world.disks.get(keyOf(diskId));
    const isAttached =
      lun !== undefined &&
      body.properties.storageProfile.dataDisks?.find((disk) => disk.lun === lun)?.createOption === "Attach";
    if (taken !== undefined && !isAttached) {
      throw new ArmRefusal(
        "Conflict",
        `The disk with name ${taken.name} already exists in resource group ${path.group}.`,
      );
    }
  }
  const vm: VirtualMachine = {
    id,
    name: path.segments[1] ?? "",
    group: path.group.toLowerCase(),
    location: body.location,
    tags: body.tags ?? {},
    provisioningState: "Creating",
    createdAtMs: world.nowMs(),
    vmId: world.random.uuid(),
    body,
    disks,
    nics: body.properties.networkProfile.networkInterfaces.map(({ id: nicId, properties }) => ({
      nicId,
      deleteOption: properties.deleteOption ?? "Detach",
    })),
  };
  world.vms.set(keyOf(id), vm);
  attach(world, vm, failure !== undefined);
  const operation = startOperation(call, id, world.options.vmMs, () => endCreation(vm, failure));
  return json(201, vmAnswer(vm), operationHeaders(call, operation, { async: true }));
}

function disksOf({ path }: ArmCall, { properties }: VmBody): AttachedDisk[] {
  const { osDisk, dataDisks = [] } = properties.storageProfile;
  const idFor = (name: string): string => resourceId(path.subscription, path.group, diskType, name);
  return [
    { diskId: idFor(osDisk.name), lun: undefined, deleteOption: osDisk.deleteOption ?? "Detach", toBeDetached: false },
    ...dataDisks.map(({ name, lun, deleteOption = "Detach", managedDisk }): AttachedDisk => ({
      diskId: managedDisk?.id ?? idFor(name),
      lun,
      deleteOption,
      toBeDetached: false,
    })),
  ];
}

/** Creates the disks of a VM and attaches its NICs. A VM that will fail keeps its NICs reserved. */
function attach(world: ArmWorld, vm: VirtualMachine, willFail: boolean): void {
  const { storageProfile } = vm.body.properties;
  for (const { diskId, lun } of vm.disks) {
    const known = world.disks.get(keyOf(diskId));
    if (known !== undefined) {
      known.managedBy = vm.id;
      continue;
    }
    const wanted =
      lun === undefined ? storageProfile.osDisk : storageProfile.dataDisks?.find((disk) => disk.lun === lun);
    world.disks.set(keyOf(diskId), {
      id: diskId,
      name: nameOf(diskId),
      group: vm.group,
      location: vm.location,
      tags: vm.tags,
      provisioningState: "Succeeded",
      createdAtMs: world.nowMs(),
      zones: vm.body.zones ?? [],
      sku: wanted?.managedDisk?.storageAccountType ?? "Standard_LRS",
      sizeGb: wanted?.diskSizeGB,
      creationData: { createOption: wanted?.createOption ?? "Empty" },
      managedBy: vm.id,
    });
  }
  for (const { nicId } of vm.nics) {
    const nic = world.nics.get(keyOf(nicId));
    if (nic === undefined) continue;
    nic.vmId = vm.id;
    if (willFail) reserveNic(world, nicId, vm.id);
  }
}

function reserveNic(world: ArmWorld, nicId: string, vmId: string): void {
  const nic = world.nics.get(keyOf(nicId));
  if (nic !== undefined) nic.reserved = { vmId, untilMs: world.nowMs() + (world.options.reservationMs ?? 180_000) };
}

function endCreation(vm: VirtualMachine, failure: OperationFailure | undefined): OperationFailure | undefined {
  if (failure === undefined) {
    vm.provisioningState = "Succeeded";
    vm.power = "running";
    return undefined;
  }
  vm.provisioningState = "Failed";
  vm.failure = failure;
  return failure;
}

function update(call: ArmCall, vm: VirtualMachine, body: VmBody) {
  if (vm.provisioningState === "Deleting") throw new ArmRefusal("Conflict", `VM ${vm.name} is being deleted.`);
  checkUnchanged(vm, body);
  vm.tags = body.tags ?? {};
  return finish(call, vm, 200);
}

/** Responds to a completed change with an operation, too. */
function finish(call: ArmCall, vm: VirtualMachine, status: number) {
  const before = vm.provisioningState;
  const operation = startOperation(call, `${vm.id}/update`, call.world.options.vmMs, () => {
    if (vm.provisioningState === "Updating") vm.provisioningState = before;
    return undefined;
  });
  if (before === "Succeeded") vm.provisioningState = "Updating";
  return json(status, vmAnswer(vm), operationHeaders(call, operation, { async: true }));
}

/** PATCH of a VM: tags and delete options. */
export const patchVm: ArmAction = (call) => {
  const vm = find(call);
  const { tags, properties } = readBody(call, vmPatchSchema);
  if (vm.disks.some(({ toBeDetached }) => toBeDetached)) {
    throw new ArmRefusal("AttachDiskWhileBeingDetached", `A disk is being detached from VM '${vm.name}'.`);
  }
  const { storageProfile, networkProfile } = properties ?? {};
  const diskOf = (lun: number | undefined) => vm.disks.find((disk) => disk.lun === lun);
  const osDisk = diskOf(undefined);
  if (storageProfile?.osDisk !== undefined && osDisk !== undefined)
    osDisk.deleteOption = storageProfile.osDisk.deleteOption;
  if (storageProfile?.dataDisks !== undefined) {
    // The list is complete: missing items would be detached.
    for (const { lun } of vm.disks) {
      if (lun === undefined || storageProfile.dataDisks.some((disk) => disk.lun === lun)) continue;
      throw new ArmRefusal(
        "InvalidParameter",
        `The emulator was asked to detach disk ${lun} of ${vm.name} by leaving it out.`,
      );
    }
    for (const { lun, deleteOption } of storageProfile.dataDisks) {
      const disk = diskOf(lun);
      if (disk !== undefined && deleteOption !== undefined) disk.deleteOption = deleteOption;
    }
  }
  for (const { id, properties: wanted } of networkProfile?.networkInterfaces ?? []) {
    const nic = vm.nics.find(({ nicId }) => keyOf(nicId) === keyOf(id));
    if (nic === undefined) throw new ArmRefusal("InvalidResourceReference", `VM ${vm.name} has no NIC ${id}.`);
    nic.deleteOption = wanted.deleteOption;
  }
  if (tags !== undefined) vm.tags = tags;
  return finish(call, vm, 200);
};

/** DELETE of a VM. Its running operation is preempted. */
export const deleteVm: ArmAction = (call) => {
  const { world } = call;
  const id = idOf(call);
  const vm = world.vms.get(keyOf(id));
  if (vm === undefined) return empty(204);
  world.operations.preempt(id);
  vm.provisioningState = "Deleting";
  const operation = startOperation(call, id, world.options.deleteMs, () => {
    removeVm(world, vm);
    return undefined;
  });
  return empty(202, operationHeaders(call, operation, { async: true, location: true }));
};

/** Deletes a VM with its resources. */
export function removeVm(world: ArmWorld, vm: VirtualMachine): void {
  if (world.vms.get(keyOf(vm.id)) !== vm) return;
  world.vms.delete(keyOf(vm.id));
  world.gone.push({ type, name: vm.name, group: vm.group, tags: vm.tags, goneAtMs: world.nowMs() });
  for (const { nicId, deleteOption } of vm.nics) {
    const nic = world.nics.get(keyOf(nicId));
    if (nic === undefined) continue;
    delete nic.vmId;
    // Deleting the failed VM releases its NIC.
    delete nic.reserved;
    if (deleteOption === "Delete") removeNic(world, nic);
  }
  for (const { diskId, deleteOption } of vm.disks) {
    const disk = world.disks.get(keyOf(diskId));
    if (disk === undefined) continue;
    delete disk.managedBy;
    if (deleteOption === "Delete") removeDisk(world, disk);
  }
}
