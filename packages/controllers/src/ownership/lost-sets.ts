import {
  labelKeys,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  selectorMatches,
} from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { isDeletedOnAdoption } from "./adoption.ts";
import { createLostOwners, type LostOwners } from "./lost-owners.ts";

/** Sets that terminate because of a deployment that they name and that does not exist, while another one may have their machines. */
export interface LostSets extends LostOwners {
  isLost(set: MachineSet): boolean;
  /** The deployment to which an object without owner belonged, or would belong if it were not terminating. */
  deploymentOf(labels: ApiObject["metadata"]["labels"]): MachineDeployment | undefined;
}

/** Judges by the caches, and by what was confirmed. */
export function createLostSets(context: Pick<ControllerContext, "control" | "namespace" | "caches">): LostSets {
  const { namespace } = context;
  const { store } = context.caches.deployments;
  const owners = createLostOwners<MachineDeployment>(context, machineDeploymentResource, store);
  const isLive = (deployment: MachineDeployment): boolean => deployment.metadata.deletionTimestamp === undefined;

  const deploymentOf: LostSets["deploymentOf"] = (labels) =>
    labels?.[labelKeys.machineTemplateHash] === undefined
      ? undefined
      : store.list(namespace).find((each) => isLive(each) && selectorMatches(each.spec.selector, labels));

  return {
    ...owners,
    deploymentOf,
    isLost(set) {
      const owner = controllerRefOf(set);
      const { deletionTimestamp, labels } = set.metadata;
      // The garbage collector takes a former deployment off sets that it has deleted a moment before, when that went without them.
      if (owner === undefined) return deletionTimestamp !== undefined && deploymentOf(labels) !== undefined;
      const deployment = store.getByRef({ namespace, name: owner.name });
      // With its deployment, it goes because that goes.
      const staysForOthers = deployment === undefined || isLive(deployment);
      return owners.isConfirmed(owner) || (staysForOthers && isDeletedOnAdoption(set));
    },
  };
}
