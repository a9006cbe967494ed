import {
  decideMachineDeployment,
  decideMachineSet,
  type MachineDeploymentSnapshot,
  machineSetSnapshot,
  observeMachineDeployment,
} from "@millwright/controllers/decisions";
import type { MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { createMergePatch } from "@millwright/kube";
import { carryOutForDeployment, carryOutForSet, type Moment, type Notes } from "./carry-out-in-model.ts";
import type { ModelBudget } from "./model-budget.ts";
import type { ModelCluster } from "./model-cluster.ts";

/** What the controllers need besides the model. */
export interface ModelOptions {
  readonly budget: ModelBudget;
  readonly disablesScaleDown: boolean;
  /** Whether a node exists before the simulation. */
  readonly isRealNode: (name: string) => boolean;
}

/** The decisions of the controllers, run over the objects of a model. */
export interface ModelControllers {
  /** Reconciles every object whose inputs changed since its last reconcile; returns whether there was one. */
  reconcileAll(notes: Notes, now: Date): boolean;
  /** When the gates of a rollout change by time alone, as of the last reconciles. */
  requeueTimes(): readonly Date[];
  /** Number of decisions so far: the cost of a simulation on any computer. */
  decisions(): number;
}

/** The snapshot of a deployment of the model. */
export function observeInModel(
  cluster: ModelCluster,
  deployment: MachineDeployment,
  disablesScaleDown: boolean,
  now: Date,
): MachineDeploymentSnapshot {
  const sources = {
    sets: [...cluster.sets.values()],
    machinesOf: cluster.machinesOf,
    problemOf: ({ spec }: MachineDeployment) =>
      cluster.hasClass(spec.template.spec.class?.name ?? "") ? undefined : { problem: "it does not exist" },
    ...(cluster.hasTarget ? { nodesOf: () => cluster.nodesByMachine } : {}),
    disablesScaleDown,
  };
  return observeMachineDeployment(deployment, sources, now);
}

/** The inputs of a decision, and until when it holds if they do not change. */
interface Decided {
  readonly from: readonly unknown[];
  readonly untilMs: number;
  readonly requeueAt?: Date | undefined;
}

const stillHolds = (decided: Decided | undefined, from: readonly unknown[], now: Date): boolean =>
  decided !== undefined &&
  now.getTime() < decided.untilMs &&
  decided.from.length === from.length &&
  decided.from.every((each, index) => each === from[index]);

const statusPatch = (before: object | undefined, after: object | undefined): object | undefined => {
  const status = after === undefined ? undefined : createMergePatch({ ...before }, { ...after });
  return status === undefined ? undefined : { status };
};

/**
 * Creates the controllers of a simulation. They call the decide functions of the real controllers, and only when one of the inputs is a different object than before or
 * the decision is due again: in a rollout of thousands of machines most moments affect one of them.
 */
export function createModelControllers(
  cluster: ModelCluster,
  { budget, disablesScaleDown, isRealNode }: ModelOptions,
): ModelControllers {
  const decided = new Map<string, Decided>();
  const momentOf = (notes: Notes, now: Date): Moment => ({
    notes,
    now,
    isRealNode,
    isHeld(name) {
      const machine = cluster.machines.get(name);
      return machine !== undefined && budget.holds(machine, now);
    },
  });
  let decisions = 0;

  function reconcileDeployment(deployment: MachineDeployment, notes: Notes, now: Date): boolean {
    const { name } = deployment.metadata;
    const sets = [...cluster.sets.values()];
    const machines = sets.map(({ metadata }) => cluster.machinesOf(metadata.uid ?? ""));
    // A status is the result of decisions, and no input of them.
    const specs = [deployment, ...sets].flatMap(({ metadata, spec }) => [metadata, spec]);
    const from = [...specs, ...machines];
    if (stillHolds(decided.get(`deployment ${name}`), from, now)) return false;
    decisions++;
    const snapshot = observeInModel(cluster, deployment, disablesScaleDown, now);
    const { actions, status, because, requeueAfterMs = Infinity } = decideMachineDeployment(snapshot, now);
    const untilMs = now.getTime() + requeueAfterMs;
    decided.set(`deployment ${name}`, { from, untilMs, requeueAt: snapshot.limits.requeueAt });
    for (const action of actions) carryOutForDeployment(cluster, deployment, action, momentOf(notes, now));
    const patch = statusPatch(deployment.status, status);
    if (patch !== undefined) cluster.patchDeployment(name, patch);
    notes.messages.push(...because.map(({ message }) => message));
    return true;
  }

  function reconcileSet(set: MachineSet, notes: Notes, now: Date): boolean {
    const { name, uid = "" } = set.metadata;
    const own = cluster.machinesOf(uid);
    const free = cluster.machinesOf("");
    const specs = [set, ...cluster.deployments.values()].flatMap(({ metadata, spec }) => [metadata, spec]);
    const from = [own, free, ...specs];
    if (stillHolds(decided.get(`set ${name}`), from, now)) return false;
    decisions++;
    const snapshot = machineSetSnapshot(set, {
      controlled: uid === "" ? [] : own,
      others: free,
      deployment: (each) => cluster.deployments.get(each),
      nodesOf: () => cluster.nodesByMachine,
    });
    const decision = decideMachineSet({ ...snapshot, budget: budget.ofSet(set, now) }, now);
    const { actions, status, because, requeueAfterMs = Infinity, begins = [] } = decision;
    for (const { machine, isApproved = false } of begins) budget.enter(machine, isApproved, now);
    decided.set(`set ${name}`, { from, untilMs: now.getTime() + requeueAfterMs });
    for (const action of actions) carryOutForSet(cluster, set, action, momentOf(notes, now));
    const patch = statusPatch(set.status, status);
    if (patch !== undefined) cluster.patchSet(name, patch);
    notes.messages.push(...because.map(({ message }) => message));
    return true;
  }

  return {
    reconcileAll(notes, now) {
      const deployments = [...cluster.deployments.values()].map((each) => reconcileDeployment(each, notes, now));
      const sets = [...cluster.sets.values()].map((each) => reconcileSet(each, notes, now));
      return [...deployments, ...sets].includes(true);
    },
    decisions: () => decisions,
    requeueTimes: () =>
      [...cluster.deployments.keys()].flatMap((name) => decided.get(`deployment ${name}`)?.requeueAt ?? []),
  };
}
