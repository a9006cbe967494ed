import {
  eventReasons,
  finalizers,
  type Machine,
  type MachineDeployment,
  machineNameIn,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import {
  adoptPatch,
  controllerRefOf,
  type Expectations,
  isAlreadyExists,
  isUnanswered,
  keyOf,
  mayHaveSucceeded,
  newControllerRef,
  releasePatch,
  addFinalizerPatch,
  removeFinalizerPatch,
  type Writer,
} from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { intentAtBirth } from "./creation-intent.ts";
import { newMachine } from "./new-machine.ts";
import type { LostMachines } from "../ownership/lost-machines.ts";
import { adoptionAnnotation, requestDeletion } from "../ownership/adoption.ts";
import { releaseAnnotation } from "../safety/released-machines.ts";
import { slowStart } from "./slow-start.ts";
import { mayExist } from "./unanswered-requests.ts";
import type { MachineSetAction } from "./snapshot.ts";

/** Length of the random part of a machine's name. */
const SUFFIX_LENGTH = 5;

/** What the actions of sets need. */
export interface MachineSetActorOptions {
  readonly context: ControllerContext;
  readonly sets: Writer<MachineSet>;
  readonly deployments: Writer<MachineDeployment>;
  /** Records each creation and deletion before the request, and its result where that is known. */
  readonly expectations: Expectations;
  /** Requeues a set, by its key. */
  readonly again: (key: string) => void;
  readonly lost: Pick<LostMachines, "confirm">;
}

/** Executes one action of a set; throws the errors of the API server. */
export type MachineSetActor = (
  set: MachineSet,
  action: MachineSetAction,
  confirmOwner: () => Promise<void>,
) => Promise<void>;

/** Adds a set to the owners of a machine, or removes it. A release is recorded on the machine, so that it outlives this process. */
async function changeOwner(
  kind: "AdoptMachine" | "OrphanMachine" | "ReleaseMachine",
  change: {
    readonly set: MachineSet;
    readonly machine: Machine;
    readonly machines: Writer<Machine>;
    readonly context: Pick<ControllerContext, "namespace" | "clock" | "events">;
    readonly confirmOwner: () => Promise<void>;
    readonly lost: Pick<LostMachines, "confirm">;
  },
): Promise<void> {
  const { set, machine, machines, context } = change;
  const { name, deletionTimestamp } = machine.metadata;
  // The garbage collector may have deleted it since the decision: with an owner that exists, its deletion would not be held as that of a lost owner.
  if (kind !== "OrphanMachine" && deletionTimestamp != null) return;
  const uid = set.metadata.uid ?? "";
  const ref = { namespace: context.namespace, name };
  if (kind === "AdoptMachine") {
    await change.confirmOwner();
    const former = controllerRefOf(machine);
    if (former !== undefined && !(await change.lost.confirm(former))) return;
    const { metadata } = adoptPatch(machine, newControllerRef(machineSetResource, set));
    const annotations = adoptionAnnotation(machine, context.clock.now());
    return machines.patch(ref, { metadata: { ...metadata, annotations } });
  }
  const { metadata } = releasePatch(machine, uid);
  if (kind === "OrphanMachine") return machines.patch(ref, { metadata });
  const annotations = releaseAnnotation(uid, context.clock.now());
  await machines.patch(ref, { metadata: { ...metadata, annotations } });
  const message = `Released Machine ${name}: its labels no longer match the selector. Its VM is kept`;
  context.events.record(set, { type: "Warning", reason: eventReasons.released, message });
}

/** Creates the executor of the actions of sets. */
export function createMachineSetActor({
  context,
  sets,
  deployments,
  expectations,
  again,
  lost,
}: MachineSetActorOptions): MachineSetActor {
  const { caches, namespace, random } = context;
  const store = caches.machines.store;
  const machines = createControlWriter<Machine>(context, machineResource, store);

  const createOne = async (set: MachineSet): Promise<void> => {
    const name = machineNameIn(set.metadata.name, random.suffix(SUFFIX_LENGTH));
    const key = keyOf(set);
    expectations.expectCreation(key, name);
    try {
      const machine = newMachine(set, name);
      const annotations = { ...machine.metadata.annotations, ...(await intentAtBirth(machine, context)) };
      await machines.create({ ...machine, metadata: { ...machine.metadata, annotations } });
      context.events.record(set, {
        type: "Normal",
        reason: eventReasons.successfulCreate,
        message: `Created Machine: ${name}`,
      });
      expectations.creationObserved(key, name);
    } catch (error) {
      if (!mayHaveSucceeded(error) || (!isUnanswered(error) && !(await mayExist(context, name))))
        expectations.creationRejected(key, name);
      if (!isAlreadyExists(error)) throw error;
      // The random name is taken: the next reconcile uses another.
      again(key);
    }
  };

  const deleteOne = async (
    set: MachineSet,
    { name, uid, resourceVersion }: Extract<MachineSetAction, { readonly kind: "DeleteMachine" }>,
  ): Promise<void> => {
    const key = keyOf(set);
    expectations.expectDeletion(key, uid);
    try {
      await requestDeletion({ machines, store }, { namespace, name }, uid, resourceVersion);
      expectations.deletionObserved(key, uid);
    } catch (error) {
      // Without a response it may be terminating: no other is selected until it is seen, or read.
      if (!isUnanswered(error)) expectations.deletionRejected(key, uid);
      throw error;
    }
    // What is deleted with its set, the budget judges only now.
    const event =
      set.metadata.deletionTimestamp == null
        ? { reason: eventReasons.successfulDelete, message: `Deleted machine: ${name}` }
        : { reason: eventReasons.deletionRequested, message: `Requested the deletion of machine ${name}` };
    context.events.record(set, { type: "Normal", ...event });
  };

  return async (set, action, confirmOwner) => {
    const ref = { namespace, name: set.metadata.name };
    switch (action.kind) {
      case "AddFinalizer":
        return sets.patch(ref, addFinalizerPatch(set, finalizers.machine));
      case "RemoveFinalizer":
        return sets.patch(ref, removeFinalizerPatch(set, finalizers.machine));
      case "PatchSet":
        return sets.patch(ref, action.patch);
      case "UseApproval":
        return (action.of === "MachineSet" ? sets : deployments).patch({ namespace, name: action.name }, action.patch);
      case "AdoptMachine":
      case "OrphanMachine":
      case "ReleaseMachine": {
        const machine = caches.machines.store.getByRef({ namespace, name: action.name });
        return machine === undefined
          ? undefined
          : changeOwner(action.kind, { set, machine, machines, context, confirmOwner, lost });
      }
      case "PatchMachine":
        return machines.patch({ namespace, name: action.name }, action.patch);
      case "CreateMachines":
        return slowStart(action.count, () => createOne(set));
      case "DeleteMachine":
        return deleteOne(set, action);
    }
  };
}
