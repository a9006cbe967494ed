import {
  type Machine,
  type MachineDeployment,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { FakeApi } from "@millwright/kube/testing";
import { type Condition, findCondition, secretResource } from "@millwright/kube";
import { createMachineDeploymentController } from "../machine-deployment/controller.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import { aMachineClass, aMachineDeployment, type Change, inPhase, named, refOf } from "./builders.ts";
import { aSecret } from "./machine-process.ts";
import { runControllers, type RunningControllers } from "./running-controllers.ts";

/** The deployment of {@link withDeployment}. */
export const pool = refOf("pool");

/** Adds the classes that tests name, with the Secret that they have in common. */
export function seedClasses(api: FakeApi): void {
  for (const name of ["small", "big", "huge"]) api.seed(machineClassResource, aMachineClass(named(name)));
  api.seed(secretResource, aSecret({ userData: "#cloud-config" }));
}

/** Starts the controllers of deployments and sets. No controller lets their machines run: see {@link live}. */
export const startDeployments = (prepare: (api: FakeApi) => void): Promise<RunningControllers> =>
  runControllers(
    (context) => [createMachineDeploymentController(context, 2), createMachineSetController(context, 2)],
    (api) => {
      seedClasses(api);
      prepare(api);
    },
  );

/** The same, with one deployment. */
export const withDeployment = (...changes: readonly Change<MachineDeployment>[]): Promise<RunningControllers> =>
  startDeployments((api) => void api.seed(machineDeploymentResource, aMachineDeployment(...changes)));

/** The deployment, as it is now. */
export const deploymentOf = ({ api }: RunningControllers): MachineDeployment | undefined =>
  api.peek<MachineDeployment>(machineDeploymentResource, pool);

/** All sets, oldest first. */
export const setsOf = ({ api }: RunningControllers): readonly MachineSet[] => api.all<MachineSet>(machineSetResource);

/** A condition of the deployment. */
export const conditionOf = (cluster: RunningControllers, type: string): Condition | undefined =>
  findCondition(deploymentOf(cluster)?.status?.conditions, type);

/** A user changes the spec of the deployment, and the controllers do what they can at once. */
export async function changeDeployment(cluster: RunningControllers, patch: Change<MachineDeployment>): Promise<void> {
  const { generation = 1 } = deploymentOf(cluster)?.metadata ?? {};
  cluster.api.change(machineDeploymentResource, pool, { metadata: { generation: generation + 1 } });
  cluster.api.change(machineDeploymentResource, pool, patch);
  await cluster.settle();
}

const isDue = ({ metadata, status }: Machine): boolean =>
  metadata.deletionTimestamp !== undefined || status?.currentStatus?.phase !== "Running";

/** Does what the machine controller would do: machines start to run, terminating ones are deleted. Until nothing changes any more. */
export async function live(cluster: RunningControllers): Promise<void> {
  for (let round = 0; round < 30; round++) {
    const due = cluster.machines().filter(isDue);
    if (due.length === 0) return;
    for (const { metadata } of due) {
      if (metadata.deletionTimestamp === undefined)
        cluster.api.change(machineResource, refOf(metadata.name), inPhase("Running"));
      else cluster.api.remove(machineResource, refOf(metadata.name));
    }
    // Without time between them, so many reconciles would look like a hot loop.
    await cluster.settle(1_000);
  }
  throw new Error("the cluster does not settle");
}
