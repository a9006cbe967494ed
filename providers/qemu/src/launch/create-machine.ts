import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type CreateMachineRequest,
  type CreateMachineResponse,
  type DriverContext,
  MachineError,
  type MachineIdentity,
} from "@millwright/core";
import { specHashOf } from "@millwright/core/driver-kit";
import { isRunning } from "../process/find.ts";
import { startProcess } from "../process/start.ts";
import { discard } from "../process/stop.ts";
import { type QemuSpec, vmShapeOf } from "../spec/spec.ts";
import { createStaging, publish, readFolder, removeAbandonedStaging } from "../vm/folders.ts";
import { vmIdentityOf } from "../vm/identity.ts";
import { isOwnedBy, managedBy, ownerTagKeys, type VmRecord } from "../vm/record.ts";
import { checkCapacity } from "./capacity.ts";
import { runExclusively } from "./exclusive.ts";
import { checkFiles, checkImage, fillFolder, maxUserDataBytes } from "./prepare.ts";

/** The computer that VMs run on, where tests replace something. */
export interface QemuHost {
  /** Memory of the computer, MiB. */
  readonly totalMemoryMiB: () => number;
  /** The QEMU program. */
  readonly systemProgram: string;
}

/** What a VM is found by. */
export const referenceOf = ({ providerId, nodeName }: VmRecord): CreateMachineResponse => ({
  providerId,
  nodeName,
  addresses: [{ type: "Hostname", address: nodeName }],
});

function recordOf(request: CreateMachineRequest<QemuSpec>, createdAt: Date): VmRecord {
  const { machine, machineClass, idempotencyToken } = request;
  const { cluster } = machineClass.spec;
  const { providerId, nodeName } = vmIdentityOf(cluster, machine);
  const spec = vmShapeOf(machineClass.spec);
  return {
    version: 1,
    providerId,
    nodeName,
    createdAt: createdAt.toISOString(),
    tags: {
      [ownerTagKeys.managedBy]: managedBy,
      [ownerTagKeys.cluster]: cluster,
      [ownerTagKeys.namespace]: machine.namespace,
      [ownerTagKeys.machineName]: machine.name,
      [ownerTagKeys.machineUid]: machine.uid,
      [ownerTagKeys.machineClass]: machineClass.name,
      [ownerTagKeys.token]: idempotencyToken,
      [ownerTagKeys.specHash]: specHashOf(spec),
    },
    spec,
  };
}

/**
 * The running VM of a machine, if it is the one that was requested.
 *
 * @throws MachineError `AlreadyExists` for the VM of another machine, or one of another spec
 */
function adopt(existing: VmRecord, wanted: VmRecord, cluster: string, machine: MachineIdentity): CreateMachineResponse {
  const { providerId } = existing;
  if (!isOwnedBy(existing, cluster, machine)) {
    throw new MachineError(
      "AlreadyExists",
      `VM ${providerId} of an earlier machine "${machine.name}", or of another namespace, still exists; delete it first`,
    );
  }
  if (existing.tags[ownerTagKeys.specHash] !== wanted.tags[ownerTagKeys.specHash])
    throw new MachineError("AlreadyExists", `VM ${providerId} of this machine was created from another providerSpec`);
  return referenceOf(existing);
}

/** Creates the files of a VM, starts its process, and waits until it runs. */
async function launch(
  request: CreateMachineRequest<QemuSpec>,
  record: VmRecord,
  context: DriverContext,
  host: QemuHost,
): Promise<CreateMachineResponse> {
  const { spec } = request.machineClass;
  const { stateDirectory } = spec;
  const { folderName } = vmIdentityOf(spec.cluster, request.machine);
  await checkFiles(spec);
  await checkImage(spec, context.signal);
  await checkCapacity(spec, host.totalMemoryMiB());
  const staging = await createStaging(stateDirectory, folderName);
  let path: string;
  try {
    await fillFolder(staging, record, request.userData, context.signal);
    path = await publish(staging, stateDirectory, folderName);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  try {
    await startProcess({ folder: path, providerId: record.providerId, spec: record.spec }, context, host.systemProgram);
  } catch (error) {
    // An aborted call leaves the process to start: the next one finds it.
    if (!context.signal.aborted) await discard({ path, record, isTerminating: false }, 0, context);
    throw error;
  }
  return referenceOf(record);
}

/** Creates the VM of a machine, or finds it. */
export async function createMachine(
  request: CreateMachineRequest<QemuSpec>,
  context: DriverContext,
  host: QemuHost,
): Promise<CreateMachineResponse> {
  const { machine, machineClass, userData } = request;
  const { cluster, stateDirectory } = machineClass.spec;
  const { folderName } = vmIdentityOf(cluster, machine);
  if (userData.revealBytes().length > maxUserDataBytes)
    throw new MachineError("InvalidArgument", `the user data has more than ${maxUserDataBytes} bytes`);
  return runExclusively(join(stateDirectory, folderName), context.signal, async () => {
    const record = recordOf(request, context.clock.now());
    const existing = await readFolder(stateDirectory, folderName);
    if (existing !== undefined) {
      if ((await isRunning(existing)) || !isOwnedBy(existing.record, cluster, machine))
        return adopt(existing.record, record, cluster, machine);
      // The files of a VM that has ended, or of a creation that was interrupted.
      await discard(existing, 0, context);
    }
    await removeAbandonedStaging(stateDirectory, folderName);
    return launch(request, record, context, host);
  });
}
