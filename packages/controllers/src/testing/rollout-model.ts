import {
  type Machine,
  type MachineDeployment,
  type MachineSet,
  phaseOf,
  readMachine,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
  selectorMatches,
} from "@millwright/core/machine-api";
import { apiTime, applyMergePatch, claimObjects, controllerRefOf } from "@millwright/kube";
import { decideMachineDeployment } from "../machine-deployment/decide.ts";
import { withGates } from "../machine-deployment/gates/with-gates.ts";
import type { RolloutGates } from "../machine-deployment/state/rollout-gates.ts";
import type { MachineDeploymentAction, ObservedDeployment } from "../machine-deployment/state/snapshot.ts";
import { isDeleting } from "../model/phase.ts";
import { decideMachineSet } from "../machine-set/decide.ts";
import { newMachine } from "../machine-set/new-machine.ts";
import type { MachineSetAction } from "../machine-set/snapshot.ts";
import { decideInPlace } from "../machine/in-place/decide-in-place.ts";
import { aMachine, beingDeleted, type Change, inPhase, labeled } from "./builders.ts";
import { createModelNodes, type ModelNodes } from "./model-nodes.ts";
import { aSnapshot } from "./snapshots.ts";

/** A deployment, its sets and their machines as plain values, moved by the decisions alone. */
export interface RolloutModel {
  /** Nodes of the machines; none in a model without a target cluster. */
  readonly nodes: ModelNodes;
  /** The time of the next reconcile. */
  readonly now: () => Date;
  readonly deployment: () => MachineDeployment;
  /** What the rollout waited for in the last reconcile of the deployment. */
  readonly holds: () => readonly string[];
  /** Oldest first. */
  readonly sets: () => readonly MachineSet[];
  readonly machines: () => readonly Machine[];
  /** One reconcile of the deployment; its messages. Killed after so many actions, it reports nothing and writes no status. */
  decideDeployment(killedAfter?: number, limits?: RolloutGates): readonly string[];
  /** One reconcile of every set; what they did: `+1 pool-abcde`, `-1 pool-abcde`. */
  decideSets(): readonly string[];
  /** One reconcile of every machine that is updated in place. */
  decideMachines(): void;
  change(patch: Change<MachineDeployment>): void;
  changeMachine(name: string, patch: Change<Machine>): void;
  /** A user takes an annotation off all sets. */
  unmark(key: string): void;
  /** A machine that runs has a node, where there are nodes. */
  setPhase(machine: Machine, phase: "Pending" | "Running" | "Unknown" | "Failed"): void;
  /** The VM of a terminating machine is deleted. */
  finishDeletion(machine: Machine): void;
}

const readOrThrow = <T>(read: (raw: unknown) => ReadResult<T>, raw: unknown): T => {
  const result = read(raw);
  if (!result.ok) throw new TypeError(`a decision made an invalid object: ${JSON.stringify(result.problems)}`);
  return result.value;
};

/** What a model has besides a deployment. */
export interface RolloutModelOptions {
  /** Whether machines have nodes. Default: they have none. */
  readonly hasNodes?: boolean;
  readonly disablesScaleDown?: boolean;
  /** Of any template that is rolled out. Default: classes can be used. */
  readonly unusableClass?: ObservedDeployment["unusableClass"];
}

/** Makes a model of a deployment without sets. */
export function createRolloutModel(initial: MachineDeployment, options: RolloutModelOptions = {}): RolloutModel {
  const nodes = createModelNodes();
  let deployment = initial;
  let sets: readonly MachineSet[] = [];
  let machines: readonly Machine[] = [];
  let reconciles = 0;
  let holds: readonly string[] = [];
  const now = (): Date => new Date(Date.UTC(2026, 0, 1) + reconciles * 1000);

  const patchSet = (name: string, patch: object): void => {
    sets = sets.map((set) =>
      set.metadata.name === name ? readOrThrow(readMachineSet, applyMergePatch(set, patch)) : set,
    );
  };
  const replaceMachine = (name: string, change: (machine: Machine) => Machine): void => {
    machines = machines.map((machine) => (machine.metadata.name === name ? change(machine) : machine));
  };

  const patchMachine = (name: string, patch: object): void =>
    replaceMachine(name, (machine) => readOrThrow(readMachine, applyMergePatch(machine, patch)));

  function actOnDeployment(action: MachineDeploymentAction): void {
    switch (action.kind) {
      case "PatchMachine":
        return patchMachine(action.name, action.patch);
      case "PatchNodes":
        for (const { name, patch, condition } of action.nodes) {
          if (patch !== undefined && !nodes.patch(name, patch)) continue;
          if (condition !== undefined) nodes.setCondition(name, condition);
        }
        return;
      case "CreateMachineSet": {
        const { metadata } = action.set;
        const creationTimestamp = now().toISOString();
        sets = [...sets, { ...action.set, metadata: { ...metadata, uid: `uid-${metadata.name}`, creationTimestamp } }];
        return;
      }
      case "PatchMachineSet":
        return patchSet(action.name, action.patch);
      case "PatchDeployment":
        deployment = readOrThrow(readMachineDeployment, applyMergePatch(deployment, action.patch));
        return;
      case "AddFinalizer":
      case "RemoveFinalizer":
      case "AdoptMachineSet":
      case "OrphanMachineSet":
      case "ReleaseMachineSet":
      case "DeleteMachineSet":
        throw new Error(`the model does not expect ${action.kind}`);
    }
  }

  function actOnSet(set: MachineSet, action: MachineSetAction): string | undefined {
    switch (action.kind) {
      case "AddFinalizer":
        patchSet(set.metadata.name, { metadata: { finalizers: ["machine.sapcloud.io/machine-controller-manager"] } });
        return undefined;
      case "PatchSet":
        patchSet(set.metadata.name, action.patch);
        return undefined;
      case "CreateMachines":
        for (let index = 0; index < action.count; index++) {
          const name = `${set.metadata.name}-${machines.length}-${reconciles}`;
          machines = [...machines, aMachine(newMachine(set, name), inPhase("Pending"))];
        }
        return `+${action.count} ${set.metadata.name}`;
      case "DeleteMachine":
        replaceMachine(action.name, (machine) => aMachine(machine, beingDeleted(apiTime(now()))));
        return `-1 ${set.metadata.name}`;
      case "PatchMachine":
        patchMachine(action.name, action.patch);
        return undefined;
      case "RemoveFinalizer":
      case "UseApproval":
      case "AdoptMachine":
      case "OrphanMachine":
      case "ReleaseMachine":
        throw new Error(`the model does not expect ${action.kind}`);
    }
  }

  const ownedBy = (set: MachineSet): readonly Machine[] =>
    machines.filter((machine) => controllerRefOf(machine)?.uid === set.metadata.uid);

  /** The machine's side of an update in place, as its controller carries it out. */
  function updateInPlace(machine: Machine): void {
    const node = nodes.of(machine);
    if (node === undefined || isDeleting(machine)) return;
    const { actions, status } = decideInPlace(aSnapshot({ machine, node }), now());
    for (const action of actions) {
      if (action.kind === "PatchNode") nodes.patch(action.name, action.patch);
      if (action.kind === "PatchNodeStatus") nodes.patchStatus(action.name, action.patch);
    }
    if (status !== undefined) patchMachine(machine.metadata.name, { status });
  }

  return {
    nodes,
    now,
    deployment: () => deployment,
    holds: () => holds,
    sets: () => sets,
    machines: () => machines,
    decideDeployment(killedAfter = Number.POSITIVE_INFINITY, limits?: RolloutGates) {
      reconciles++;
      const claim = claimObjects(deployment, sets, ({ metadata }) =>
        selectorMatches(deployment.spec.selector, metadata.labels),
      );
      const byUid = new Map(sets.map((set) => [set.metadata.uid ?? "", ownedBy(set)]));
      const snapshot = withGates(
        {
          deployment,
          claim,
          machines: byUid,
          problems: [],
          isSpecValid: true,
          ...(options.hasNodes === true ? { nodes: nodes.seenOf(machines) } : {}),
          ...(options.unusableClass === undefined ? {} : { unusableClass: options.unusableClass }),
          ...(options.disablesScaleDown === undefined ? {} : { disablesScaleDown: options.disablesScaleDown }),
        },
        now(),
      );
      holds = snapshot.limits.holds ?? [];
      const { actions, status, because } = decideMachineDeployment(
        limits === undefined ? snapshot : { ...snapshot, limits },
        now(),
      );
      for (const action of actions.slice(0, killedAfter)) actOnDeployment(action);
      if (actions.length > killedAfter) return [];
      if (status !== undefined) deployment = { ...deployment, status };
      return because.map(({ message }) => message);
    },
    decideSets() {
      reconciles++;
      return sets.flatMap((set) => {
        const claim = claimObjects(set, ownedBy(set), () => true);
        const { actions, status } = decideMachineSet({ set, claim, deployment, problems: [] }, now());
        const done = actions.map((action) => actOnSet(set, action));
        if (status !== undefined) patchSet(set.metadata.name, { status });
        return done.filter((line) => line !== undefined);
      });
    },
    decideMachines() {
      reconciles++;
      for (const machine of machines) updateInPlace(machine);
    },
    change(patch) {
      deployment = readOrThrow(readMachineDeployment, applyMergePatch(deployment, patch));
    },
    changeMachine: patchMachine,
    unmark(key) {
      for (const { metadata } of sets) patchSet(metadata.name, { metadata: { annotations: { [key]: null } } });
    },
    setPhase({ metadata: { name } }, phase) {
      // The time is that of the phase, as the machine controller keeps it.
      replaceMachine(name, (machine) =>
        phaseOf(machine) === phase ? machine : aMachine(machine, inPhase(phase, apiTime(now()))),
      );
      if (options.hasNodes !== true || phase !== "Running") return;
      replaceMachine(name, (machine) => aMachine(machine, labeled({ node: nodes.join(name) })));
    },
    finishDeletion({ metadata }) {
      nodes.leave(metadata.name);
      machines = machines.filter(({ metadata: { name } }) => name !== metadata.name);
    },
  };
}
