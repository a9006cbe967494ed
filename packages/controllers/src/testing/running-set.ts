import { type MachineSet, machineSetResource } from "@millwright/core/machine-api";
import type { FakeApi } from "@millwright/kube/testing";
import { type Condition, findCondition } from "@millwright/kube";
import { createMachineSetController } from "../machine-set/controller.ts";
import { aMachineSet, type Change, refOf } from "./builders.ts";
import { runControllers, type RunningControllers } from "./running-controllers.ts";

/** The set of {@link withSet}. */
export const setRef = refOf("set");

/** Starts the controller of sets. No controller lets their machines run. */
export const startSets = (prepare: (api: FakeApi) => void): Promise<RunningControllers> =>
  runControllers((context) => [createMachineSetController(context, 2)], prepare);

/** The same, with one set. */
export const withSet = (...changes: readonly Change<MachineSet>[]): Promise<RunningControllers> =>
  startSets((api) => void api.seed(machineSetResource, aMachineSet(...changes)));

/** The set, as it is now. */
export const setOf = ({ api }: RunningControllers): MachineSet | undefined =>
  api.peek<MachineSet>(machineSetResource, setRef);

/** Its condition for machines that could not be created or deleted. */
export const failureOf = (cluster: RunningControllers): Condition | undefined =>
  findCondition(setOf(cluster)?.status?.machineSetCondition, "ReplicaFailure");
