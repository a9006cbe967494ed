import {
  finalizers,
  labelKeys,
  type Machine,
  machineNameIn,
  machineResource,
  type MachineSet,
  machineSetResource,
  selectorMatches,
  validateMachineSet,
} from "@millwright/core";
import {
  adoptPatch,
  claimObjects,
  type Controller,
  controllerRefOf,
  createController,
  createExpectations,
  fulfilFromStore,
  isAlreadyExists,
  isNotFound,
  isUnanswered,
  keyOf,
  mayHaveHappened,
  newControllerRef,
  releasePatch,
  watchTriggers,
} from "@millwright/kube";
import { carryOut, writeStatus } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import type { Node } from "../cluster/node-objects.ts";
import { problemsOf } from "../cluster/readable.ts";
import { intentAtBirth } from "../machine/creation/intent-at-birth.ts";
import { confirmOwnerOnce } from "../ownership/confirm-owner.ts";
import { addFinalizerPatch, removeFinalizerPatch } from "../ownership/finalizer-patch.ts";
import { createWriter } from "../cluster/writer.ts";
import {
  changesReplicas,
  decideMachineSet,
  type MachineSetAction,
  type MachineSetSnapshot,
  type Pending,
} from "./decide.ts";
import { newMachine } from "./new-machine.ts";
import type { NodesOfMachines } from "./plan-replicas.ts";
import { slowStart } from "./slow-start.ts";
import type { ReplicaFailure } from "./status.ts";

/** How long a creation without an answer may still come to pass, milliseconds: an API server gives a request up after one minute. */
const UNANSWERED_MS = 90_000;

/** Length of the random part of a machine's name. */
const SUFFIX_LENGTH = 5;

/** The nodes of machines, by the label that links them. */
function nodesOf(machines: readonly Machine[], { target }: ControllerContext): NodesOfMachines {
  const nodes = new Map<string, Node>();
  for (const { metadata } of machines) {
    const node = target?.caches.nodes.store.get(metadata.labels?.[labelKeys.node] ?? "");
    if (node !== undefined) nodes.set(metadata.name, node);
  }
  return nodes;
}

/** Makes the controller of MachineSets: it keeps the number of machines that a set declares. */
export function createMachineSetController(context: ControllerContext, workers: number): Controller {
  const { caches, namespace, control, random, clock } = context;
  const sets = createWriter<MachineSet>({ api: control, type: machineSetResource, store: caches.sets.store });
  const machines = createWriter<Machine>({ api: control, type: machineResource, store: caches.machines.store });
  /** Refused creations and deletions by key of the set, until one succeeds or none is wanted; they show as the condition ReplicaFailure. */
  const failures = new Map<string, ReplicaFailure>();
  /** Creations by key of the set that are under way, or that ended without an answer. */
  const expectations = createExpectations({ clock, timeoutMs: UNANSWERED_MS });

  const pendingOf = (set: MachineSet): Pending | undefined => {
    const outstanding = expectations.outstanding(keyOf(set));
    return outstanding === undefined
      ? undefined
      : { count: outstanding.creations.length, expiresInMs: outstanding.expiresInMs };
  };

  const observe = (set: MachineSet): MachineSetSnapshot => {
    const problems = problemsOf(set, validateMachineSet);
    // On its way out, and while its spec is refused, an owner goes on with what it controls, whatever has become of its selector.
    const keepsAll = set.metadata.deletionTimestamp !== undefined || problems.length > 0;
    const isWanted = (machine: Machine): boolean =>
      keepsAll || selectorMatches(set.spec.selector, machine.metadata.labels);
    const claim = claimObjects(set, caches.machines.store.list(namespace), isWanted);
    return {
      set,
      claim,
      nodes: nodesOf(claim.owned, context),
      problems,
      failure: failures.get(keyOf(set)),
      pending: pendingOf(set),
    };
  };

  /** Does something to machines and remembers whether the API server refused it. */
  const remembering = async (
    set: MachineSet,
    reason: ReplicaFailure["reason"],
    run: () => Promise<void>,
  ): Promise<void> => {
    const key = keyOf(set);
    try {
      await run();
      if (failures.delete(key)) controller.enqueue(key);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.set(key, { reason, message });
      context.events.record(set, {
        type: "Warning",
        reason,
        message: `Error ${reason === "FailedCreate" ? "creating" : "deleting"}: ${message}`,
      });
      throw error;
    }
  };

  /**
   * Whether a machine was made although the server answered with a fault; it is done with the request by then, so a look decides. Without any answer
   * only time does: the machine is not asked for again until it is seen, or the wait for it is over.
   */
  const exists = async (name: string): Promise<boolean> => {
    try {
      caches.machines.store.applyWrite(await control.get<Machine>(machineResource, { namespace, name }));
      return true;
    } catch (error) {
      return !isNotFound(error);
    }
  };

  const createOne = async (set: MachineSet): Promise<void> => {
    const name = machineNameIn(set.metadata.name, random.suffix(SUFFIX_LENGTH));
    const key = keyOf(set);
    expectations.expectCreation(key, name);
    try {
      const machine = newMachine(set, name);
      const annotations = { ...machine.metadata.annotations, ...intentAtBirth(machine, context) };
      await machines.create({ ...machine, metadata: { ...machine.metadata, annotations } });
      context.events.record(set, { type: "Normal", reason: "SuccessfulCreate", message: `Created Machine: ${name}` });
      expectations.creationSeen(key, name);
    } catch (error) {
      if (!mayHaveHappened(error) || (!isUnanswered(error) && !(await exists(name))))
        expectations.creationRefused(key, name);
      if (!isAlreadyExists(error)) throw error;
      // The name is taken, by chance: another pass draws another.
      controller.enqueue(key);
    }
  };

  const act = async (set: MachineSet, action: MachineSetAction, confirmOwner: () => Promise<void>): Promise<void> => {
    const ref = { namespace, name: set.metadata.name };
    switch (action.kind) {
      case "AddFinalizer":
        return sets.patch(ref, addFinalizerPatch(set, finalizers.machine));
      case "RemoveFinalizer":
        return sets.patch(ref, removeFinalizerPatch(set, finalizers.machine));
      case "AdoptMachine": {
        const machine = caches.machines.store.getByRef({ namespace, name: action.name });
        if (machine === undefined) return;
        await confirmOwner();
        return machines.patch(
          { namespace, name: action.name },
          adoptPatch(machine, newControllerRef(machineSetResource, set)),
        );
      }
      case "ReleaseMachine": {
        const machine = caches.machines.store.getByRef({ namespace, name: action.name });
        if (machine === undefined) return;
        return machines.patch({ namespace, name: action.name }, releasePatch(machine, set.metadata.uid ?? ""));
      }
      case "PatchMachine":
        return machines.patch({ namespace, name: action.name }, action.patch);
      case "CreateMachines":
        return remembering(set, "FailedCreate", () => slowStart(action.count, () => createOne(set)));
      case "DeleteMachine":
        return remembering(set, "FailedDelete", async () => {
          await machines.delete({ namespace, name: action.name }, action.uid);
          context.events.record(set, {
            type: "Normal",
            reason: "SuccessfulDelete",
            message: `Deleted machine: ${action.name}`,
          });
        });
    }
  };

  const controller = createController({
    name: "machine-set",
    workers,
    waitFor: [caches.sets, caches.machines, ...(context.target === undefined ? [] : [context.target.caches.nodes])],
    clock,
    random,
    log: context.log,
    reconcile: async (key) => {
      const set = caches.sets.store.get(key);
      if (set === undefined) {
        failures.delete(key);
        expectations.forget(key);
        return { done: true };
      }
      const decision = decideMachineSet(observe(set), clock.now());
      if (!changesReplicas(decision.actions)) failures.delete(key);
      const confirmOwner = confirmOwnerOnce(control, machineSetResource, set);
      const options = { object: set, writer: sets, events: context.events, log: context.log };
      try {
        return await carryOut(decision, (action) => act(set, action, confirmOwner), options);
      } catch (error) {
        // The failed pass wrote no status, and the passes after it may fail too: this is the moment to show the failure.
        if (failures.has(key)) await writeStatus(decideMachineSet(observe(set), clock.now()).status, options);
        throw error;
      }
    },
  });

  // Before the triggers: a pass that a machine wakes finds its creation seen.
  fulfilFromStore({
    expectations,
    store: caches.machines.store,
    ownerOf: (machine) => {
      const owner = controllerRefOf(machine);
      return owner?.kind === "MachineSet" ? `${namespace}/${owner.name}` : undefined;
    },
  });
  watchTriggers({ store: caches.sets.store, controller, keys: ({ metadata }) => [`${namespace}/${metadata.name}`] });
  watchTriggers({
    store: caches.machines.store,
    controller,
    keys: (machine) => {
      const owner = controllerRefOf(machine);
      if (owner !== undefined) return owner.kind === "MachineSet" ? [`${namespace}/${owner.name}`] : [];
      // Nobody's machine may belong to any set that selects it.
      return caches.sets.store
        .list(namespace)
        .filter((set) => selectorMatches(set.spec.selector, machine.metadata.labels))
        .map((set) => `${namespace}/${set.metadata.name}`);
    },
  });
  return controller;
}
