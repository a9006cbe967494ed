import {
  annotationKeys,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
  writeRefusedConditionType,
} from "@millwright/core/machine-api";
import { controllerRefOf, findCondition, ignoreNotFound } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import type { MachineSetDecision } from "./snapshot.ts";

/** Whether a decision about a set that waits for machines deletes some as surplus, or forgets that it waits. */
export const needsSize = ({ metadata }: MachineSet, { actions }: MachineSetDecision): boolean =>
  metadata.deletionTimestamp == null &&
  metadata.annotations?.[annotationKeys.expectedReplicas] !== undefined &&
  actions.some(({ kind }) => kind === "DeleteMachine" || kind === "PatchSet");

/** Its status follows the sizes that it writes, or the refusal of one. */
const hasSizedSets = ({ metadata, status }: MachineDeployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
  findCondition(status?.conditions, writeRefusedConditionType)?.status !== "True";

/**
 * Confirms the size of a set before a decision that {@link needsSize}. Who restores machines grows their deployment
 * first, and its controller the set; each of these is read from a watch of its own, so that machines may come before
 * the size that they have room in. They would be deleted with their VMs.
 *
 * @returns whether its deployment has the size that the set was given, and the set that of the decision
 */
export function createConfirmSize({ control, namespace }: Pick<ControllerContext, "control" | "namespace">) {
  return async (set: MachineSet): Promise<boolean> => {
    const owner = controllerRefOf(set);
    if (owner !== undefined) {
      const ref = { namespace, name: owner.name };
      const deployment = await ignoreNotFound(control.get<MachineDeployment>(machineDeploymentResource, ref));
      if (deployment?.metadata.uid === owner.uid && !hasSizedSets(deployment)) return false;
    }
    // After its deployment, which may have changed it until then.
    const current = await ignoreNotFound(
      control.get<MachineSet>(machineSetResource, { namespace, name: set.metadata.name }),
    );
    return current === undefined || current.metadata.generation === set.metadata.generation;
  };
}
