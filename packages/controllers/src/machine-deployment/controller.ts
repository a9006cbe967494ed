import {
  annotationKeys,
  controllerOf,
  eventReasons,
  finalizers,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineDeploymentStatus,
  machineResource,
  type MachineSet,
  machineSetResource,
  selectorMatches,
} from "@millwright/core/machine-api";
import {
  adoptPatch,
  type Controller,
  controllerRefOf,
  keyOf,
  newControllerRef,
  releasePatch,
  watchTriggers,
  watchOrphaningOwners,
  confirmOwnerOnce,
  addFinalizerPatch,
  removeFinalizerPatch,
} from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { refusalText } from "../cluster/refused-writes.ts";
import { watchClasses } from "../cluster/watch-classes.ts";
import { nodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { createStatusUpdateThrottle } from "../conditions/status-update-throttle.ts";
import { createMachineJudge } from "../conditions/group/judged-machine.ts";
import { observeConditionInputs } from "../conditions/owner/condition-inputs.ts";
import { decideGuarded } from "../guards/decide-guarded.ts";
import { commonHolds, ownerGuards } from "../guards/owner-guards.ts";
import { unverifiedPatch } from "../machine-set/expected-replicas.ts";
import { createLostOwners } from "../ownership/lost-owners.ts";
import { createOwningController } from "../ownership/owning-controller.ts";
import { adoptionAnnotation } from "../ownership/adoption.ts";
import { releaseAnnotation, releaseOf } from "../safety/released-machines.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { withDeploymentConditions } from "./cluster-api-conditions.ts";
import { decideMachineDeployment } from "./decide.ts";
import { classGuard, createClassOutlook } from "./gates/class-outlook.ts";
import { createMachineSetCreator } from "./sets/create-machine-set.ts";
import { isRelevantNodeChange } from "./nodes/node-changes.ts";
import { observeMachineDeployment } from "./observe.ts";
import { decideHeld } from "./decide-held.ts";
import { refusedDeploymentStatus } from "./refused-status.ts";
import { createNodePatcher } from "./nodes/patch-nodes.ts";
import type {
  MachineDeploymentAction,
  MachineDeploymentDecision,
  MachineDeploymentSnapshot,
} from "./state/snapshot.ts";

/** Options of the MachineDeployment controller. */
export interface MachineDeploymentControllerOptions {
  /** Whether scale-down by the cluster-autoscaler is disabled on the nodes of a rollout; `false` also removes the annotations set before. Default: `true`. */
  readonly disablesScaleDown?: boolean;
  /** Whether the machine controller runs in the same process, which writes them to a node that joins, with its first patch. Default: `false`. */
  readonly awaitsFirstSync?: boolean;
}

/**
 * A patch for the version that it was decided from. What people and the cluster-autoscaler write meanwhile is decided on again: without the version, a list of machines to delete, or a
 * template, would be overwritten by what follows from the former one.
 */
const inVersionOf = (
  { metadata: { resourceVersion } }: MachineDeployment,
  patch: { readonly metadata?: object },
): object => ({ ...patch, metadata: { ...patch.metadata, resourceVersion } });

/** Makes the controller of MachineDeployments: it rolls templates out over MachineSets. */
export function createMachineDeploymentController(
  context: ControllerContext,
  workers: number,
  { disablesScaleDown = true, awaitsFirstSync = false }: MachineDeploymentControllerOptions = {},
): Controller {
  const { caches, namespace, control, clock } = context;
  const deployments = createControlWriter<MachineDeployment>(
    context,
    machineDeploymentResource,
    caches.deployments.store,
  );
  const machines = createControlWriter<Machine>(context, machineResource, caches.machines.store);
  const sets = createControlWriter<MachineSet>(context, machineSetResource, caches.sets.store);

  const owners = createLostOwners<MachineDeployment>(context, machineDeploymentResource, caches.deployments.store);
  const outlook = createClassOutlook(context);
  const orphaning = watchOrphaningOwners(caches.deployments.store);
  const observe = (deployment: MachineDeployment, now: Date): MachineDeploymentSnapshot =>
    observeMachineDeployment(
      deployment,
      {
        sets: caches.sets.store.list(namespace),
        isMissing: owners.isMissing,
        machinesOf: (uid) => caches.machines.store.byIndex("owner", uid),
        ...(context.target === undefined ? {} : { nodesOf: (each) => nodesOfMachines(each, context) }),
        problemOf: outlook.problemOf,
        commonHolds: commonHolds(context),
        disablesScaleDown,
        awaitsFirstSync,
      },
      now,
    );

  const makeSet = createMachineSetCreator(context, deployments, sets, owners);
  const patchNodes = createNodePatcher(context);

  const act = async (
    deployment: MachineDeployment,
    action: MachineDeploymentAction,
    confirmOwner: () => Promise<void>,
  ): Promise<void> => {
    const ref = { namespace, name: deployment.metadata.name };
    switch (action.kind) {
      case "AddFinalizer":
        return deployments.patch(ref, addFinalizerPatch(deployment, finalizers.machine));
      case "RemoveFinalizer":
        return deployments.patch(ref, removeFinalizerPatch(deployment, finalizers.machine));
      case "PatchDeployment":
        return deployments.patch(ref, inVersionOf(deployment, action.patch));
      case "AdoptMachineSet": {
        const set = caches.sets.store.getByRef({ namespace, name: action.name });
        // The garbage collector may have deleted it since the decision: what is terminating is not adopted.
        if (set === undefined || set.metadata.deletionTimestamp != null) return;
        await confirmOwner();
        const former = controllerRefOf(set);
        if (former !== undefined && !(await owners.confirm(former))) return;
        const { metadata } = adoptPatch(set, newControllerRef(machineDeploymentResource, deployment));
        // It was restored, perhaps before its machines.
        const isWaiting = set.metadata.annotations?.[annotationKeys.expectedReplicas] !== undefined;
        const annotations = {
          ...(former === undefined || isWaiting ? {} : unverifiedPatch.metadata.annotations),
          ...adoptionAnnotation(set, clock.now()),
        };
        return sets.patch({ namespace, name: action.name }, { metadata: { ...metadata, annotations } });
      }
      case "OrphanMachineSet":
      case "ReleaseMachineSet": {
        const { uid = "" } = deployment.metadata;
        const set = caches.sets.store.getByRef({ namespace, name: action.name });
        if (set === undefined) return;
        const { metadata } = releasePatch(set, uid);
        const setRef = { namespace, name: action.name };
        if (action.kind === "OrphanMachineSet") return sets.patch(setRef, { metadata });
        await sets.patch(setRef, { metadata: { ...metadata, annotations: releaseAnnotation(uid, clock.now()) } });
        const message = `Released MachineSet ${action.name}: its labels no longer match the selector. Its machines and their VMs are kept`;
        return context.events.record(deployment, { type: "Warning", reason: eventReasons.released, message });
      }
      case "CreateMachineSet":
        return makeSet(deployment, action.set);
      case "PatchMachineSet":
        return sets.patch({ namespace, name: action.name }, action.patch);
      case "PatchMachine":
        return machines.patch({ namespace, name: action.name }, action.patch);
      case "PatchNodes":
        // A node that changed meanwhile is reconciled again in its new state.
        if (await patchNodes(action.nodes)) controller.enqueue(keyOf(deployment));
        return;
      case "DeleteMachineSet":
        return sets.delete({ namespace, name: action.name }, action.uid, action.resourceVersion);
    }
  };

  const judge = createMachineJudge();
  const decide = (deployment: MachineDeployment): MachineDeploymentDecision => {
    const now = clock.now();
    const snapshot = { ...observe(deployment, now), orphaning: orphaning.stateOf(deployment) };
    const all = [...snapshot.machines.values()].flat();
    const inputs = observeConditionInputs(context, deployment, all, snapshot.nodes, judge);
    return withDeploymentConditions(decideMachineDeployment(snapshot, now), snapshot, inputs, now);
  };
  const ownedBy = ({ metadata: { uid = "" } }: MachineDeployment) => caches.sets.store.byIndex("owner", uid);
  const guards = [...ownerGuards(context, "MachineDeployment"), classGuard(outlook, ownedBy)];
  const pace = createStatusUpdateThrottle<MachineDeploymentStatus>(clock, (status, change) => ({
    ...status,
    availableReplicas: 0,
    readyReplicas: 0,
    replicas: 0,
    unavailableReplicas: 0,
    updatedReplicas: 0,
    conditions: (status.conditions ?? []).map(change),
  }));

  const keysOfTemplates = (className: string): string[] =>
    caches.deployments.store
      .list(namespace)
      .filter((deployment) => namesClass(className, deployment))
      .map(keyOf);
  const keyOfName = (name: string): string => `${namespace}/${name}`;
  const namesClass = (name: string, { spec }: MachineDeployment | MachineSet): boolean =>
    spec.template.spec.class?.name === name;

  const keysOfMachine = (machine: Machine): string[] => {
    const owner = controllerOf(machine);
    const set = owner === undefined ? undefined : caches.sets.store.getByRef({ namespace, name: owner.name });
    const deployment = set === undefined ? undefined : controllerOf(set);
    return deployment?.kind === "MachineDeployment" ? [keyOfName(deployment.name)] : [];
  };

  const controller = createOwningController(context, {
    name: "machine-deployment",
    workers,
    store: caches.deployments.store,
    guards,
    keysOfMachine,
    machinesOf: ({ metadata: { uid = "" } }) =>
      caches.sets.store
        .byIndex("owner", uid)
        .reduce((sum, set) => sum + caches.machines.store.byIndex("owner", set.metadata.uid ?? "").length, 0),
    keysOfClass: (name) => [
      ...keysOfTemplates(name),
      ...caches.sets.store
        .list(namespace)
        .filter((set) => namesClass(name, set))
        .flatMap((set) => {
          const owner = controllerOf(set);
          return owner?.kind === "MachineDeployment" ? [keyOfName(owner.name)] : [];
        }),
    ],
    reconcile: async (key) => {
      const decided = await decideGuarded({
        guards,
        read: () => caches.deployments.store.get(key),
        decide,
        decideHeld: (deployment, hold) => decideHeld(deployment, hold, clock.now()),
      });
      if (decided === undefined) {
        pace.forget(key);
        return { done: true };
      }
      const { object: deployment } = decided;
      const decision = pace.hold(key, deployment.status, decided.decision);
      const confirmOwner = confirmOwnerOnce(control, machineDeploymentResource, deployment);
      return carryOut(decision, (action) => act(deployment, action, confirmOwner), {
        object: deployment,
        writer: deployments,
        events: context.events,
        log: context.log,
        refusedStatus: (refusal) =>
          refusedDeploymentStatus(decision.status, deployment, refusalText(refusal), clock.now()),
      });
    },
  });

  watchTriggers({
    store: caches.sets.store,
    controller,
    keys: (set) => {
      const owner = controllerOf(set);
      if (owner !== undefined && !owners.isMissing(owner))
        return owner.kind === "MachineDeployment" ? [keyOfName(owner.name)] : [];
      // A set without an owner that exists may belong to any deployment that selects it, and concerns the one that released it.
      const former = releaseOf(set)?.ownerUid;
      return caches.deployments.store
        .list(namespace)
        .filter(
          ({ metadata, spec }) =>
            (former !== undefined && metadata.uid === former) || selectorMatches(spec.selector, set.metadata.labels),
        )
        .map(({ metadata }) => keyOfName(metadata.name));
    },
  });
  watchClasses(caches, controller, keysOfTemplates);
  // A machine counts in the status of its deployment, which a change of its set's counters alone would not always show.
  watchTriggers({ store: caches.machines.store, controller, keys: keysOfMachine });
  if (context.target !== undefined) {
    watchTriggers({
      store: context.target.caches.nodes.store,
      controller,
      when: isRelevantNodeChange,
      keys: ({ metadata }) => caches.machines.store.byIndex("node", metadata.name).flatMap(keysOfMachine),
    });
  }
  return controller;
}
