import { totalmem } from "node:os";
import { defineDriver, type Driver, type DriverContext } from "@millwright/core";
import { checkClass } from "./check-class.ts";
import { deleteMachine } from "./delete-machine.ts";
import { toMachineError } from "./errors.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { createMachine, type QemuHost } from "./launch/create-machine.ts";
import { listMachines } from "./list-machines.ts";
import { matchNode } from "./match-node.ts";
import { systemProgram } from "./process/arguments.ts";
import { type QemuSpec, qemuSpecSchema, qemuVmSpecSchema } from "./spec/spec.ts";

/** Options of {@link createQemuDriver}: the computer that VMs run on. Default: this one. */
export type QemuDriverOptions = Partial<QemuHost>;

async function answering<T>({ signal }: DriverContext, act: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted();
    return await act();
  } catch (error) {
    throw toMachineError(error, signal);
  }
}

/** Creates the driver whose VMs are QEMU processes of this computer. It holds no state: every call finds them by their folders. */
export function createQemuDriver(options: QemuDriverOptions = {}): Driver<QemuSpec> {
  const host: QemuHost = { totalMemoryMiB: () => totalmem() / 1_048_576, systemProgram, ...options };
  return defineDriver<QemuSpec>({
    name: "qemu",
    spec: qemuSpecSchema,
    vmSpec: qemuVmSpecSchema,
    createMachine: (request, context) => answering(context, () => createMachine(request, context, host)),
    deleteMachine: (request, context) => answering(context, () => deleteMachine(request, context)),
    getMachineStatus: (request, context) => answering(context, () => getMachineStatus(request)),
    listMachines: (request, context) => answering(context, () => listMachines(request)),
    findDrift: (request, context) => answering(context, () => findDrift(request)),
    checkClass: (request, context) => answering(context, () => checkClass(request, context, host)),
    getNodeTemplate: async ({ machineClass: { spec } }) => ({
      nodeTemplate: {
        capacity: { cpu: String(spec.cpus), memory: `${spec.memoryMiB}Mi`, gpu: "0" },
        instanceType: `${spec.cpus}-cpu-${spec.memoryMiB}-mib`,
        region: "qemu",
        zone: spec.cluster,
      },
    }),
    matchNode,
  });
}
