import {
  finalizers,
  type Machine,
  type MachineDeployment,
  machineNameIn,
  machineResource,
  type MachineSet,
  machineSetResource,
  type MachineSetStatus,
  selectorMatches,
  validateMachineDeployment,
  validateMachineSet,
  withMachineDeploymentDefaults,
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
  priorityOfChange,
  releasePatch,
  watchTriggers,
} from "@millwright/kube";
import { carryOut, writeStatus } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { nodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { createStatusPace } from "../conditions/status-pace.ts";
import { observeSurroundings } from "../conditions/surroundings.ts";
import { watchSurroundings } from "../conditions/watch-surroundings.ts";
import { problemsOf } from "../cluster/readable.ts";
import { intentAtBirth } from "../machine/creation/intent-at-birth.ts";
import { confirmOwnerOnce } from "../ownership/confirm-owner.ts";
import { addFinalizerPatch, removeFinalizerPatch } from "../ownership/finalizer-patch.ts";
import { defaultOvershootMargins, type OvershootMargins } from "../safety/overshoot-limits.ts";
import { createWriter } from "../cluster/writer.ts";
import {
  changesReplicas,
  decideMachineSet,
  type MachineSetAction,
  type MachineSetDecision,
  type MachineSetSnapshot,
  type Pending,
} from "./decide.ts";
import { withSetConditions } from "./conditions.ts";
import { newMachine } from "./new-machine.ts";
import { slowStart } from "./slow-start.ts";
import type { ReplicaFailure } from "./status.ts";

/** How long a creation without an answer may still come to pass, milliseconds: an API server gives a request up after one minute. */
const UNANSWERED_MS = 90_000;

/** Length of the random part of a machine's name. */
const SUFFIX_LENGTH = 5;

/** What the API server refused in one pass. */
interface Refusals {
  readonly errors: unknown[];
  /** The first that concerns the number of machines. */
  failure: ReplicaFailure | undefined;
}

/**
 * Makes the controller of MachineSets: it keeps the number of machines that a set declares.
 *
 * @param margins at which sets with too many machines are frozen, and unfrozen
 */
export function createMachineSetController(
  context: ControllerContext,
  workers: number,
  margins: OvershootMargins = defaultOvershootMargins,
): Controller {
  const { caches, namespace, control, random, clock } = context;
  const sets = createWriter<MachineSet>({ api: control, type: machineSetResource, store: caches.sets.store });
  const machines = createWriter<Machine>({ api: control, type: machineResource, store: caches.machines.store });
  /** Refused creations and deletions by key of the set, until one succeeds or none is wanted; they show as the condition ReplicaFailure. */
  const failures = new Map<string, ReplicaFailure>();
  /** Creations by key of the set that are under way, or that ended without an answer. */
  const expectations = createExpectations({ clock, timeoutMs: UNANSWERED_MS });

  const pendingOf = (set: MachineSet): Pending | undefined => {
    const outstanding = expectations.outstanding(keyOf(set));
    if (outstanding === undefined) return undefined;
    const { creations, deletions, expiresInMs } = outstanding;
    return { count: creations.length, leaving: new Set(deletions), expiresInMs };
  };

  /** The deployment that controls a set, as far as its spec can be followed. */
  const deploymentOf = (set: MachineSet): MachineDeployment | undefined => {
    const owner = controllerRefOf(set);
    const found = owner === undefined ? undefined : caches.deployments.store.getByRef({ namespace, name: owner.name });
    if (found === undefined || found.metadata.uid !== owner?.uid) return undefined;
    return problemsOf(found, validateMachineDeployment).length > 0 ? undefined : withMachineDeploymentDefaults(found);
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
      nodes: nodesOfMachines(claim.owned, context),
      controlled: caches.machines.store.byIndex("owner", set.metadata.uid ?? "").length,
      deployment: deploymentOf(set),
      problems,
      failure: failures.get(keyOf(set)),
      pending: pendingOf(set),
      margins,
    };
  };

  /** Says that the API server refused to create or delete machines. */
  const tellRefusal = (set: MachineSet, reason: ReplicaFailure["reason"], error: unknown): ReplicaFailure => {
    const message = error instanceof Error ? error.message : String(error);
    const doing = reason === "FailedCreate" ? "creating" : "deleting";
    context.events.record(set, { type: "Warning", reason, message: `Error ${doing}: ${message}` });
    return { reason, message };
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
      const annotations = { ...machine.metadata.annotations, ...(await intentAtBirth(machine, context)) };
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

  const deleteOne = async (set: MachineSet, { name, uid }: { name: string; uid: string }): Promise<void> => {
    const key = keyOf(set);
    expectations.expectDeletion(key, uid);
    try {
      await machines.delete({ namespace, name }, uid);
      expectations.deletionSeen(key, uid);
    } catch (error) {
      // Without an answer it may be going: no other is chosen in its place until it is seen, or the wait for it is over.
      if (!isUnanswered(error)) expectations.deletionRefused(key, uid);
      throw error;
    }
    context.events.record(set, { type: "Normal", reason: "SuccessfulDelete", message: `Deleted machine: ${name}` });
  };

  const act = async (set: MachineSet, action: MachineSetAction, confirmOwner: () => Promise<void>): Promise<void> => {
    const ref = { namespace, name: set.metadata.name };
    switch (action.kind) {
      case "AddFinalizer":
        return sets.patch(ref, addFinalizerPatch(set, finalizers.machine));
      case "RemoveFinalizer":
        return sets.patch(ref, removeFinalizerPatch(set, finalizers.machine));
      case "PatchSet":
        return sets.patch(ref, action.patch);
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
        return slowStart(action.count, () => createOne(set));
      case "DeleteMachine":
        return deleteOne(set, action);
    }
  };

  /**
   * Carries out one action. What the API server refuses to do with one machine must not keep it from the others, above all not a deletion from a
   * creation: it is remembered for the end of the pass.
   */
  const attempt = async (
    set: MachineSet,
    action: MachineSetAction,
    confirmOwner: () => Promise<void>,
    refused: Refusals,
  ): Promise<void> => {
    try {
      await act(set, action, confirmOwner);
    } catch (error) {
      refused.errors.push(error);
      if (action.kind === "CreateMachines") refused.failure ??= tellRefusal(set, "FailedCreate", error);
      else if (action.kind === "DeleteMachine") refused.failure ??= tellRefusal(set, "FailedDelete", error);
      else if (action.kind === "AddFinalizer" || action.kind === "PatchSet") throw error;
    }
  };

  const decide = (set: MachineSet): MachineSetDecision => {
    const snapshot = observe(set);
    const now = clock.now();
    const surroundings = observeSurroundings(context, set, snapshot.claim.owned);
    return withSetConditions(decideMachineSet(snapshot, now), snapshot, surroundings, now);
  };
  const pace = createStatusPace<MachineSetStatus>(clock, (status, change) => ({
    ...status,
    machineSetCondition: (status.machineSetCondition ?? []).map(change),
  }));

  const controller = createController({
    name: "machine-set",
    workers,
    waitFor: [
      caches.sets,
      caches.machines,
      caches.deployments,
      caches.classes,
      ...(context.target === undefined ? [] : [context.target.caches.nodes]),
    ],
    clock,
    random,
    log: context.log,
    reconcile: async (key) => {
      const set = caches.sets.store.get(key);
      if (set === undefined) {
        failures.delete(key);
        expectations.forget(key);
        pace.forget(key);
        return { done: true };
      }
      const decision = pace.hold(key, set.status, decide(set));
      if (!changesReplicas(decision.actions)) failures.delete(key);
      const confirmOwner = confirmOwnerOnce(control, machineSetResource, set);
      const options = { object: set, writer: sets, events: context.events, log: context.log };
      const refused: Refusals = { errors: [], failure: undefined };
      const result = await carryOut(decision, (action) => attempt(set, action, confirmOwner, refused), options);
      if (refused.failure !== undefined) {
        failures.set(key, refused.failure);
        // The passes after this one may fail, too: this is the moment to show it.
        await writeStatus(decide(set).status, options);
      } else if (changesReplicas(decision.actions) && failures.delete(key)) controller.enqueue(key);
      if (refused.errors.length > 0) throw refused.errors[0];
      return result;
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
  // Its size and surge bound its sets. Its status concerns none.
  watchTriggers({
    store: caches.deployments.store,
    controller,
    keys: ({ metadata: { uid = "" } }) =>
      caches.sets.store.byIndex("owner", uid).map((set) => `${namespace}/${set.metadata.name}`),
    when: (old, current) => old !== current && priorityOfChange(old, current) === "change",
  });
  const keysOf = (wanted: (set: MachineSet) => boolean): readonly string[] =>
    caches.sets.store.list(namespace).filter(wanted).map(keyOf);
  watchSurroundings(
    context,
    controller,
    (name) => keysOf(({ spec }) => spec.template.spec.class?.name === name),
    () => keysOf(() => true),
  );
  return controller;
}
