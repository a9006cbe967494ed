import { MachineError } from "@millwright/core";
import { readSdkFailure, toMachineError } from "../api/errors.ts";
import type { DataDisk } from "../spec/storage.ts";
import type { CreateRequest, MethodCall } from "../vm/method-call.ts";
import { dataDiskNameOf, isSameName, osDiskNameOf } from "../vm/names.ts";
import { isOwnedBy } from "../vm/owner-tags.ts";
import { ownDisks, removeParts } from "../vm/parts.ts";
import { adopt, cleanUp } from "./adopt.ts";
import { ensureNic } from "./ensure-nic.ts";
import { candidatesOf, type Launch, type LaunchCandidate } from "./launch.ts";
import { diskInput } from "./part-inputs.ts";
import { vmInput } from "./vm-input.ts";

/** Requests the candidates in order, until there is capacity for one. Cleans up after each failed candidate. */
export async function createVm(request: CreateRequest, launch: Launch, call: MethodCall): Promise<void> {
  const { spec, vmName } = launch;
  const { signal } = call.context;
  const candidates = candidatesOf(spec);
  const rejections: MachineError[] = [];
  for (const [index, candidate] of candidates.entries()) {
    // It may have gone with the VM of the candidate before.
    if (index > 0) await ensureNic(launch, call);
    const where = candidate.zone === undefined ? "" : ` in zone ${candidate.zone}`;
    try {
      return await createCandidate(request, launch, candidate, call);
    } catch (error) {
      const failure = toMachineError(error, signal, `creating ${candidate.vmSize}${where} (${spec.location})`);
      if (failure.code !== "ResourceExhausted") throw failure;
      rejections.push(failure);
    }
    try {
      const left = await call.session.api.getVm(spec.resourceGroup, vmName, signal);
      // Azure reserves a NIC for a failed VM for three minutes: it cannot be recreated for the next one.
      await cleanUp(request, vmName, left, call, index < candidates.length - 1 ? "nic" : "nothing");
    } catch (error) {
      const failure = toMachineError(error, signal, "removing what is left");
      throw allOf([...rejections, failure]);
    }
  }
  throw allOf(rejections);
}

/** What every candidate failed of, and perhaps what could not be removed after one. */
const allOf = (failures: readonly MachineError[]): MachineError =>
  new MachineError("ResourceExhausted", failures.map(({ message }) => message).join("; "), { cause: failures.at(-1) });

/**
 * Deletes leftover disks of an earlier attempt that would block this one: Azure creates no disk under a name in use, and moves none to another zone.
 *
 * @throws MachineError AlreadyExists for one of another owner: it would become part of the VM
 */
async function deleteLeftoverDisks(
  request: CreateRequest,
  { vmName, spec, machine }: Launch,
  { zone }: LaunchCandidate,
  call: MethodCall,
): Promise<void> {
  const { dataDisks } = spec.properties.storageProfile;
  const isFor = (name: string | undefined, disk: DataDisk): boolean => isSameName(name, dataDiskNameOf(vmName, disk));
  const all = await call.session.disks(spec.resourceGroup, call.context);
  const taken = all.find(
    ({ name, tags }) =>
      (isSameName(name, osDiskNameOf(vmName)) || dataDisks.some((disk) => isFor(name, disk))) &&
      !isOwnedBy({ vmName, tags }, call.keys, machine),
  );
  if (taken !== undefined) {
    throw new MachineError(
      "AlreadyExists",
      `disk "${taken.name}" of another owner exists in resource group "${spec.resourceGroup}"; delete it first`,
    );
  }
  const misfits = ownDisks(request, vmName, call, all).filter(({ name, managedBy = "", zones = [] }) => {
    const isStillGood =
      dataDisks.some((disk) => disk.imageRef !== undefined && isFor(name, disk)) &&
      (zone === undefined || zones.includes(String(zone)));
    return managedBy === "" && !isStillGood;
  });
  await removeParts(spec.resourceGroup, { nics: [], disks: misfits }, call);
}

/** Waits for all, so that nothing goes on when the first failure is thrown. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === "rejected") throw outcome.reason;
}

async function createCandidate(
  request: CreateRequest,
  launch: Launch,
  candidate: LaunchCandidate,
  call: MethodCall,
): Promise<void> {
  const { spec, vmName } = launch;
  const { api } = call.session;
  const { signal } = call.context;
  await deleteLeftoverDisks(request, launch, candidate, call);
  await allDone(
    spec.properties.storageProfile.dataDisks.map(async (disk) => {
      if (disk.imageRef === undefined) return;
      const input = diskInput(launch, candidate, disk, disk.imageRef);
      await api.putDisk(spec.resourceGroup, dataDiskNameOf(vmName, disk), input, signal);
    }),
  );
  try {
    await api.createVm(spec.resourceGroup, vmName, vmInput(launch, candidate), signal);
  } catch (error) {
    // A VM exists: of an attempt whose response was lost, of another process, or of another owner.
    if (readSdkFailure(error).status !== 412) throw error;
    const found = await call.session.vm(spec.resourceGroup, vmName, call.context);
    if (found !== undefined && (await adopt(request, found, call)) === "adopted") return;
    throw new MachineError("Aborted", `VM "${vmName}" was deleted while it was being created`);
  }
}
