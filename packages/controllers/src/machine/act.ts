import { MachineError } from "@millwright/core";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import {
  ignoreNotFound,
  messageOf,
  nodeResource,
  podResource,
  readAllInto,
  volumeAttachmentResource,
  objectFields,
  type LogFields,
  type EvictionOrder,
  type EvictionQueue,
  type Writer,
} from "@millwright/kube";
import type { ControllerContext, Target } from "../cluster/context.ts";
import type { Node } from "../model/node-objects.ts";
import { createControlWriter, createNodeWriter } from "../cluster/control-writer.ts";
import { drainRecordPatch } from "../drain/drain-record.ts";
import type { PodKnowledge } from "../drain/known-pods.ts";
import type { VolumeIds } from "../drain/volume-ids.ts";
import type { ResolvedClass } from "../cluster/class-view.ts";
import { createBootstrapTokens } from "./creation/bootstrap-tokens.ts";
import type { MachineAction } from "./state/decision.ts";
import type { MachineDriver } from "../model/driver-port.ts";
import type { RemediationWatch } from "../remediation/remediation-watch.ts";
import type { Operations } from "./operations/operations.ts";
import type { Live } from "../model/live.ts";
import type { MachineSettings } from "../model/machine-settings.ts";
import { createStarter } from "./operations/start-operation.ts";
import type { NodeReads } from "./state/node-reads.ts";
import { requestDeletion } from "../ownership/adoption.ts";
import { readTaintsManager } from "./node-sync/taints-manager.ts";
import type { RestoredTaintStates } from "./state/restored-taints.ts";

/** Carries out the actions of machines. */
export interface MachineExecutor {
  readonly machines: Writer<Machine>;
  act(machine: Machine, resolved: ResolvedClass, action: MachineAction): Promise<void>;
}

export interface MachineExecutorOptions {
  readonly operations: Operations;
  readonly driver: MachineDriver;
  readonly settings: Live<MachineSettings>;
  readonly remediations: Pick<RemediationWatch, "start" | "cancel">;
  /** Evictions and deletions of pods; absent without a target cluster. */
  readonly evictions: Pick<EvictionQueue, "add"> | undefined;
  readonly volumeIds: Pick<VolumeIds, "lookUp">;
  /** Absent without a target cluster. */
  readonly podKnowledge: Pick<PodKnowledge, "confirm"> | undefined;
  readonly nodeReads: Pick<NodeReads, "record">;
  readonly restoredTaints: Pick<RestoredTaintStates, "record">;
  /** Enqueues a machine. */
  readonly enqueue: (machine: Machine) => void;
}

/** Reads the pods of a node from the API server into the cache: all that were bound before. */
const readPodsOf = (nodeName: string, { api, caches }: Target): Promise<void> =>
  readAllInto(caches.pods.store, api, podResource, { fieldSelector: `spec.nodeName=${nodeName}` });

/** Reads a Node from the API server into the cache, or takes it out of it. */
async function readNode(name: string, { api, caches }: Target): Promise<void> {
  const node = await ignoreNotFound(api.get<Node>(nodeResource, { name }));
  const { store } = caches.nodes;
  const cached = store.get(name);
  if (node !== undefined) store.applyWrite(node);
  else if (cached !== undefined) store.applyDelete({ name, uid: cached.metadata.uid });
}

/** Makes the executor of machine actions. */
export function createMachineExecutor(context: ControllerContext, options: MachineExecutorOptions): MachineExecutor {
  const { caches, target } = context;
  const { operations, driver, settings, remediations, evictions, volumeIds, podKnowledge, nodeReads, enqueue } =
    options;
  const { restoredTaints } = options;
  const store = caches.machines.store;
  const machines = createControlWriter<Machine>(context, machineResource, store);

  /** Decisions about nodes require a target cluster. */
  const ofTarget = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error("there is no target cluster");
    return part;
  };
  const onTarget = (): Target => ofTarget(target);
  const nodeWriter = target === undefined ? undefined : createNodeWriter({ ...context, target });
  const nodes = (): Writer<Node> => ofTarget(nodeWriter);
  /** Carries out what nothing depends on: a failure is only logged. */
  const tolerate = async (promise: Promise<unknown>, what: string, subject: LogFields): Promise<void> => {
    try {
      await promise;
    } catch (error) {
      context.log("warn", what, { ...subject, because: messageOf(error) });
    }
  };
  /** Requests the ids of PersistentVolumes from the driver, in the background: one call for all volumes of a node. */
  const lookUpVolumeIds = (machine: Machine, { view, secret }: ResolvedClass, names: readonly string[]): void => {
    // Decided on the same snapshot, so the class is usable.
    if (view.state !== "usable" || target === undefined) return;
    const { machineClass } = view;
    const found = names.flatMap((name) => target.caches.volumes.store.get(name) ?? []);
    const specs = found.map(({ spec }) => ({ ...spec }));
    volumeIds.lookUp(machineClass.provider ?? "", {
      volumes: found.map(({ metadata }) => metadata.name),
      run: (signal) => driver.volumeIds({ machine, machineClass, secret }, specs, signal),
      enqueue: () => enqueue(machine),
    });
  };
  const tokens =
    target === undefined
      ? undefined
      : createBootstrapTokens({
          api: target.api,
          clock: target.clock ?? context.clock,
          random: context.random,
          extraGroups: settings.current().bootstrapTokenExtraGroups,
        });
  const start = createStarter(context, { operations, driver, settings, tokens, enqueue });
  /** A token that is not removed expires. */
  const removeToken = async (machine: Machine): Promise<void> => {
    try {
      await tokens?.remove(machine);
    } catch (error) {
      const because = error instanceof Error ? error.message : String(error);
      context.log("warn", "Failed to remove a bootstrap token; it will expire", {
        ...objectFields(machine),
        because,
      });
    }
  };

  const onNode = (
    { name, mayFail = false }: { readonly name: string; readonly mayFail?: boolean },
    write: Promise<void>,
  ): Promise<void> =>
    mayFail ? tolerate(write, "Failed to patch a node; its deletion continues", { node: name }) : write;
  /** The patch makes Millwright the manager of the taints, so the other one is read before. */
  const patchNode = async (
    { metadata }: Machine,
    { name, patch, merge, restores }: Extract<MachineAction, { readonly kind: "PatchNode" }>,
  ): Promise<void> => {
    const manager = restores === undefined ? undefined : await readTaintsManager(name, onTarget());
    await nodes().patch({ name }, patch, merge);
    if (restores !== undefined) restoredTaints.record(metadata.uid ?? "", restores, manager);
  };
  /** Does not wait for the response, which enqueues the machine. */
  const order = (
    machine: Machine,
    kind: EvictionOrder["kind"],
    { namespace, name, uid }: Omit<EvictionOrder, "kind">,
  ): void => {
    ofTarget(evictions).add({ kind, namespace, name, uid }, () => enqueue(machine));
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
        case "FailOperation":
          return operations.fail(machine.metadata.uid ?? "", new MachineError(action.code, action.message));
        case "AcknowledgeOperation":
          // When all writes of the decision have succeeded: see the controller.
          return;
        case "DeleteMachine":
          return requestDeletion({ machines, store }, ref, action.uid);
        case "StartRemediation":
          return remediations.start(action.uid, action.group);
        case "CancelRemediation":
          return remediations.cancel(action.uid);
        case "PatchNode":
          return onNode(action, patchNode(machine, action));
        case "PatchNodeStatus":
          return onNode(action, nodes().patchStatus({ name: action.name }, action.patch, action.metadata));
        case "ReadNode":
          await readNode(action.name, onTarget());
          nodeReads.record(machine.metadata.uid ?? "", action.name);
          return enqueue(machine);
        case "DeleteNode":
          return nodes().delete({ name: action.name }, action.uid);
        case "EvictPod":
          return order(machine, "evict", action);
        case "DeletePod":
          return order(machine, action.atOnce ? "kill" : "delete", action);
        case "RecordDrain":
          return machines.patch(ref, drainRecordPatch(action.record));
        case "ReadPods":
          await readPodsOf(action.nodeName, onTarget());
          podKnowledge?.confirm(`${context.namespace}/${machine.metadata.name}`, action.nodeName);
          return enqueue(machine);
        case "LookUpVolumeIds":
          return lookUpVolumeIds(machine, resolved, action.volumes);
        case "DeleteVolumeAttachment":
          return tolerate(
            ignoreNotFound(onTarget().api.delete(volumeAttachmentResource, { name: action.name }, { uid: action.uid })),
            "Failed to delete a VolumeAttachment; Kubernetes will detach the volume later",
            { kind: "VolumeAttachment", name: action.name },
          );
      }
    },
  };
}
