import {
  type Machine,
  type MachineDeployment,
  type MachineSet,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
  selectorMatches,
} from "@millwright/core";
import { applyMergePatch, claimObjects, controllerRefOf } from "@millwright/kube";
import { decideMachineDeployment } from "../machine-deployment/decide.ts";
import type { MachineDeploymentAction } from "../machine-deployment/snapshot.ts";
import { decideMachineSet, type MachineSetAction } from "../machine-set/decide.ts";
import { newMachine } from "../machine-set/new-machine.ts";
import { aMachine, beingDeleted, type Change, inPhase } from "./builders.ts";

/** A deployment, its sets and their machines as plain values, moved by the decisions alone. */
export interface RolloutModel {
  readonly deployment: () => MachineDeployment;
  /** Oldest first. */
  readonly sets: () => readonly MachineSet[];
  readonly machines: () => readonly Machine[];
  /** One pass of the deployment's controller; what it said. */
  decideDeployment(): readonly string[];
  /** One pass of every set's controller; what they did: `+1 pool-abcde`, `-1 pool-abcde`. */
  decideSets(): readonly string[];
  change(patch: Change<MachineDeployment>): void;
  setPhase(machine: Machine, phase: "Pending" | "Running" | "Failed"): void;
  /** The VM of a machine on its way out is gone. */
  finishDeletion(machine: Machine): void;
}

const readOrThrow = <T>(read: (raw: unknown) => ReadResult<T>, raw: unknown): T => {
  const result = read(raw);
  if (!result.ok) throw new TypeError(`a decision made what cannot be: ${JSON.stringify(result.problems)}`);
  return result.value;
};

/** Makes a model of a deployment without sets. */
export function createRolloutModel(initial: MachineDeployment): RolloutModel {
  let deployment = initial;
  let sets: readonly MachineSet[] = [];
  let machines: readonly Machine[] = [];
  let passes = 0;
  const now = (): Date => new Date(Date.UTC(2026, 0, 1) + passes * 1000);

  const patchSet = (name: string, patch: object): void => {
    sets = sets.map((set) =>
      set.metadata.name === name ? readOrThrow(readMachineSet, applyMergePatch(set, patch)) : set,
    );
  };
  const replaceMachine = (name: string, change: (machine: Machine) => Machine): void => {
    machines = machines.map((machine) => (machine.metadata.name === name ? change(machine) : machine));
  };

  function actOnDeployment(action: MachineDeploymentAction): void {
    switch (action.kind) {
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
          const name = `${set.metadata.name}-${machines.length}-${passes}`;
          machines = [...machines, aMachine(newMachine(set, name), inPhase("Pending"))];
        }
        return `+${action.count} ${set.metadata.name}`;
      case "DeleteMachine":
        replaceMachine(action.name, (machine) => aMachine(machine, beingDeleted()));
        return `-1 ${set.metadata.name}`;
      case "PatchMachine":
      case "RemoveFinalizer":
      case "AdoptMachine":
      case "ReleaseMachine":
        throw new Error(`the model does not expect ${action.kind}`);
    }
  }

  const ownedBy = (set: MachineSet): readonly Machine[] =>
    machines.filter((machine) => controllerRefOf(machine)?.uid === set.metadata.uid);

  return {
    deployment: () => deployment,
    sets: () => sets,
    machines: () => machines,
    decideDeployment() {
      passes++;
      const claim = claimObjects(deployment, sets, ({ metadata }) =>
        selectorMatches(deployment.spec.selector, metadata.labels),
      );
      const byUid = new Map(sets.map((set) => [set.metadata.uid ?? "", ownedBy(set)]));
      const { actions, status, because } = decideMachineDeployment(
        { deployment, claim, machines: byUid, problems: [] },
        now(),
      );
      for (const action of actions) actOnDeployment(action);
      if (status !== undefined) deployment = { ...deployment, status };
      return because.map(({ message }) => message);
    },
    decideSets() {
      passes++;
      return sets.flatMap((set) => {
        const claim = claimObjects(set, ownedBy(set), () => true);
        const { actions, status } = decideMachineSet({ set, claim, problems: [] }, now());
        const done = actions.map((action) => actOnSet(set, action));
        if (status !== undefined) patchSet(set.metadata.name, { status });
        return done.filter((line) => line !== undefined);
      });
    },
    change(patch) {
      deployment = readOrThrow(readMachineDeployment, applyMergePatch(deployment, patch));
    },
    setPhase({ metadata }, phase) {
      replaceMachine(metadata.name, (machine) => aMachine(machine, inPhase(phase)));
    },
    finishDeletion({ metadata }) {
      machines = machines.filter(({ metadata: { name } }) => name !== metadata.name);
    },
  };
}
