import { type Machine, machineResource, type ResourceType } from "@millwright/core";
import { isNotFound, isTooManyRequests, nodeResource, podResource, volumeAttachmentResource } from "@millwright/kube";
import type { ControllerContext, Target } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import { createWriter, type Writer } from "../cluster/writer.ts";
import type { ResolvedClass } from "./class-view.ts";
import type { MachineAction } from "./decision.ts";
import type { MachineDriver, VmCall } from "./driver-port.ts";
import type { OperationKind } from "./operation.ts";
import type { Operations } from "./operations.ts";

/** What carries out the actions of machines. */
export interface MachineExecutor {
  readonly machines: Writer<Machine>;
  act(machine: Machine, resolved: ResolvedClass, action: MachineAction): Promise<void>;
}

const callOf: Readonly<Record<OperationKind, "ensureVm" | "findVm" | "deleteVm">> = {
  create: "ensureVm",
  find: "findVm",
  delete: "deleteVm",
};

/** Asks for an eviction. A budget that says no is no failure: the drain looks again later. */
async function evict(
  { api }: Target,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
): Promise<void> {
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await api.create(podResource, eviction, { subresource: "eviction" });
  } catch (error) {
    if (!isNotFound(error) && !isTooManyRequests(error)) throw error;
  }
}

/** Makes the executor of machine actions. `wake` brings a machine back to the queue. */
export function createMachineExecutor(
  context: ControllerContext,
  operations: Operations,
  driver: MachineDriver,
  wake: (machine: Machine) => void,
): MachineExecutor {
  const { control, caches, target } = context;
  const machines = createWriter<Machine>({ api: control, type: machineResource, store: caches.machines.store });

  /** Decisions about nodes are only made where there is a target cluster. */
  const onTarget = (): Target => {
    if (target === undefined) throw new Error("there is no target cluster");
    return target;
  };
  const nodes = (): Writer<Node> => {
    const { api, caches: targetCaches } = onTarget();
    return createWriter<Node>({ api, type: nodeResource, store: targetCaches.nodes.store });
  };
  const remove = async (
    type: ResourceType,
    ref: { readonly namespace?: string; readonly name: string },
    uid: string,
    gracePeriodSeconds?: number,
  ): Promise<void> => {
    try {
      await onTarget().api.delete(type, ref, {
        uid,
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const start = (machine: Machine, { view, inputs, secret }: ResolvedClass, kind: OperationKind): void => {
    // Decided on the same snapshot: a call is only asked for with a class that can be used.
    if (view.state !== "usable") return;
    const call: VmCall = { machine, machineClass: view.machineClass, secret };
    const run = (signal: AbortSignal): ReturnType<MachineDriver["ensureVm"]> => driver[callOf[kind]](call, signal);
    operations.start(machine.metadata.uid ?? "", { kind, inputs, run, wake: () => wake(machine) });
  };

  return {
    machines,
    async act(machine, resolved, action) {
      const ref = { namespace: context.namespace, name: machine.metadata.name };
      switch (action.kind) {
        case "PatchMachine":
          return machines.patch(ref, action.patch);
        case "StartOperation":
          return start(machine, resolved, action.operation);
        case "AcknowledgeOperation":
          return operations.acknowledge(machine.metadata.uid ?? "");
        case "DeleteMachine":
          return machines.delete(ref, action.uid);
        case "PatchNode":
          return nodes().patch({ name: action.name }, action.patch);
        case "PatchNodeStatus":
          return nodes().patchStatus({ name: action.name }, action.patch, "strategic");
        case "DeleteNode":
          return nodes().delete({ name: action.name }, action.uid);
        case "EvictPod":
          return evict(onTarget(), action);
        case "DeletePod":
          return remove(podResource, action, action.uid, 0);
        case "DeleteVolumeAttachment":
          return remove(volumeAttachmentResource, action, action.uid);
      }
    },
  };
}
