import {
  decideMachineDeployment,
  decideMachineSet,
  type MachineDeploymentSnapshot,
  machineSetSnapshot,
  observeMachineDeployment,
} from "@millwright/controllers/decisions";
import type { MachineDeployment, MachineSet } from "@millwright/core";
import { createMergePatch } from "@millwright/kube";
import { carryOutForDeployment, carryOutForSet, type Notes } from "./carry-out-in-model.ts";
import type { ModelCluster } from "./model-cluster.ts";

/** What passes need to know besides the model. */
export interface PassOptions {
  readonly disablesScaleDown: boolean;
  /** Whether a node is there before anything happens. */
  readonly isRealNode: (name: string) => boolean;
}

/** The passes of the controllers over the objects of a model. */
export interface ModelPasses {
  /** One pass of every controller over what has changed since its last one; whether there was anything. */
  round(notes: Notes, now: Date): boolean;
  /** When the limits of a rollout change by themselves, as the last passes saw it. */
  wakes(): readonly Date[];
  /** Decisions that were made so far: what a play costs, whatever the computer. */
  decisions(): number;
}

/** What a pass over a deployment of the model sees. */
export function observeInModel(
  cluster: ModelCluster,
  deployment: MachineDeployment,
  disablesScaleDown: boolean,
  now: Date,
): MachineDeploymentSnapshot {
  const sources = {
    sets: [...cluster.sets.values()],
    machinesOf: cluster.machinesOf,
    ...(cluster.hasTarget ? { nodesOf: () => cluster.nodesByMachine } : {}),
    disablesScaleDown,
  };
  return observeMachineDeployment(deployment, sources, now);
}

/** What a decision was made from, and when time alone makes another of it. */
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
 * Makes the passes of a play. Whatever decides is the controllers' own; it is asked only when something that it looks at is another object than before, or its time
 * has come: in a rollout of thousands of machines most moments concern one of them.
 */
export function createModelPasses(cluster: ModelCluster, { disablesScaleDown, isRealNode }: PassOptions): ModelPasses {
  const decided = new Map<string, Decided>();
  let decisions = 0;

  function passOverDeployment(deployment: MachineDeployment, notes: Notes, now: Date): boolean {
    const { name } = deployment.metadata;
    const sets = [...cluster.sets.values()];
    const machines = sets.map(({ metadata }) => cluster.machinesOf(metadata.uid ?? ""));
    // A status is what decisions come to, and nothing that they are made from.
    const specs = [deployment, ...sets].flatMap(({ metadata, spec }) => [metadata, spec]);
    const from = [...specs, ...machines];
    if (stillHolds(decided.get(`deployment ${name}`), from, now)) return false;
    decisions++;
    const snapshot = observeInModel(cluster, deployment, disablesScaleDown, now);
    const { actions, status, because, requeueAfterMs = Infinity } = decideMachineDeployment(snapshot, now);
    const untilMs = now.getTime() + requeueAfterMs;
    decided.set(`deployment ${name}`, { from, untilMs, requeueAt: snapshot.limits?.requeueAt });
    for (const action of actions) carryOutForDeployment(cluster, deployment, action, { notes, now, isRealNode });
    const patch = statusPatch(deployment.status, status);
    if (patch !== undefined) cluster.patchDeployment(name, patch);
    notes.says.push(...because.map(({ message }) => message));
    return true;
  }

  function passOverSet(set: MachineSet, notes: Notes, now: Date): boolean {
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
    const { actions, status, because, requeueAfterMs = Infinity } = decideMachineSet(snapshot, now);
    decided.set(`set ${name}`, { from, untilMs: now.getTime() + requeueAfterMs });
    for (const action of actions) carryOutForSet(cluster, set, action, { notes, now, isRealNode });
    const patch = statusPatch(set.status, status);
    if (patch !== undefined) cluster.patchSet(name, patch);
    notes.says.push(...because.map(({ message }) => message));
    return true;
  }

  return {
    round(notes, now) {
      const deployments = [...cluster.deployments.values()].map((each) => passOverDeployment(each, notes, now));
      const sets = [...cluster.sets.values()].map((each) => passOverSet(each, notes, now));
      return [...deployments, ...sets].includes(true);
    },
    decisions: () => decisions,
    wakes: () => [...cluster.deployments.keys()].flatMap((name) => decided.get(`deployment ${name}`)?.requeueAt ?? []),
  };
}
