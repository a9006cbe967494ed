import { type Machine, machineResource, type ResourceType } from "@millwright/core";
import { isNotFound, isTooManyRequests, nodeResource, podResource, volumeAttachmentResource } from "@millwright/kube";
import type { ControllerContext, Target } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import { createWriter, type Writer } from "../cluster/writer.ts";
import type { ResolvedClass } from "./class-view.ts";
import { createBootstrapTokens } from "./creation/bootstrap-tokens.ts";
import type { MachineAction } from "./decision.ts";
import type { MachineDriver } from "./driver-port.ts";
import type { RepairWatch } from "./health/repair-watch.ts";
import type { Operations } from "./operations.ts";
import type { MachineSettings } from "./snapshot.ts";
import { createStarter } from "./start-operation.ts";

/** What carries out the actions of machines. */
export interface MachineExecutor {
  readonly machines: Writer<Machine>;
  act(machine: Machine, resolved: ResolvedClass, action: MachineAction): Promise<void>;
}

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

/** What machines are acted on with. */
export interface MachineExecutorOptions {
  readonly operations: Operations;
  readonly driver: MachineDriver;
  readonly settings: MachineSettings;
  readonly repairs: Pick<RepairWatch, "take" | "release">;
  /** Brings a machine back to the queue. */
  readonly wake: (machine: Machine) => void;
}

/** Makes the executor of machine actions. */
export function createMachineExecutor(
  context: ControllerContext,
  { operations, driver, settings, repairs, wake }: MachineExecutorOptions,
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
  const tokens =
    target === undefined
      ? undefined
      : createBootstrapTokens({
          api: target.api,
          clock: context.clock,
          random: context.random,
          extraGroups: settings.bootstrapTokenExtraGroups,
        });
  const start = createStarter(context, { operations, driver, settings, tokens, wake });
  /** A token that stays does no harm: it expires. */
  const removeToken = async (machine: Machine): Promise<void> => {
    try {
      await tokens?.remove(machine);
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error);
      context.log("warn", "A bootstrap token could not be removed; it will expire", {
        machine: machine.metadata.name,
        because,
      });
    }
  };

  return {
    machines,
    async act(machine, resolved, action) {
      const ref = { namespace: context.namespace, name: machine.metadata.name };
      switch (action.kind) {
        case "PatchMachine":
          return machines.patch(ref, action.patch);
        case "StartOperation":
          return start(machine, resolved, action);
        case "CancelOperation":
          return operations.cancel(machine.metadata.uid ?? "");
        case "RemoveBootstrapToken":
          return removeToken(machine);
        case "AcknowledgeOperation":
          return operations.acknowledge(machine.metadata.uid ?? "");
        case "DeleteMachine":
          return machines.delete(ref, action.uid);
        case "TakeReplacementPermit":
          return repairs.take(action.uid, action.group);
        case "ReleaseReplacementPermit":
          return repairs.release(action.uid);
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
