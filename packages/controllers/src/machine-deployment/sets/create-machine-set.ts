import {
  controllerOf,
  eventReasons,
  labelKeys,
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { ApiError, isAlreadyExists, isNamespaceTerminating, setCondition, type Writer } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";
import { withSummaryOfHeld } from "../../conditions/group/summary.ts";
import { isSameTemplate } from "../../model/template-hash.ts";
import type { LostOwners } from "../../ownership/lost-owners.ts";
import { readMissingSets } from "./read-missing-sets.ts";

/** Creates the set of a deployment's current template. */
export type CreateMachineSet = (deployment: MachineDeployment, set: MachineSet) => Promise<void>;

/**
 * Reads the deployment again, and creates a set only when it is still as it was decided by: the cache may not have a pause or another template yet, and what a rollout has begun is
 * not undone. The sets that machines have must be in the cache, too: beside a set that it lacks, a new one would have all replicas at once. Reports a failure in the conditions of the deployment (MCM, `pkg/controller/deployment_sync.go` getNewMachineSet). Throws when the name is taken or the API server rejects the set, so that the reconcile does not
 * report a new set.
 */
export function createMachineSetCreator(
  { control, caches, clock, events }: Pick<ControllerContext, "control" | "caches" | "clock" | "events">,
  deployments: Writer<MachineDeployment>,
  sets: Writer<MachineSet>,
  owners: Pick<LostOwners, "isMissing">,
): CreateMachineSet {
  /** With this error the next reconcile decides by the present state. */
  const conflict = (name: string, because: string): ApiError => {
    const message = `machine deployment ${name}: ${because}; its new machine set is decided again`;
    return new ApiError({ status: 409, reason: "Conflict", message });
  };

  /** Throws a conflict when the deployment has changed, or when the cache lacked a set. */
  const confirmUnchanged = async ({ metadata }: MachineDeployment): Promise<void> => {
    const { namespace = "", name, uid, generation } = metadata;
    const live = await control.get<MachineDeployment>(machineDeploymentResource, { namespace, name });
    if (live.metadata.uid !== uid || live.metadata.generation !== generation) {
      caches.deployments.store.applyWrite(live);
      throw conflict(name, "it has changed");
    }
    const missing = await readMissingSets({ control, caches }, namespace);
    if (missing !== undefined) throw conflict(name, `machine set ${missing.metadata.name} was not in the cache`);
  };

  /** The name is taken: by our own set that is not in the cache yet; by one that was restored with the machines of this template, which is adopted, or waited for where it is terminating; or by another object: then the next reconcile uses another name. */
  const useOrAvoid = async (deployment: MachineDeployment, set: MachineSet): Promise<void> => {
    const { namespace, name } = set.metadata;
    const live = await control.get<MachineSet>(machineSetResource, { namespace, name });
    const owner = controllerOf(live);
    const isSame = isSameTemplate(set.spec.template, live.spec.template, labelKeys.machineTemplateHash);
    const isOurs = owner?.uid === deployment.metadata.uid && live.metadata.deletionTimestamp == null;
    if (isOurs && isSame) return caches.sets.store.applyWrite(live);
    if (isSame && owner !== undefined && owners.isMissing(owner)) {
      caches.sets.store.applyWrite(live);
      throw conflict(deployment.metadata.name, `the name ${name} is that of a restored machine set`);
    }
    const { status } = deployment;
    await deployments.writeStatus(deployment, { ...status, collisionCount: (status?.collisionCount ?? 0) + 1 });
    throw new Error(`the name ${name} of the new machine set is taken; the next attempt uses another`);
  };

  const recordRejection = async (deployment: MachineDeployment, set: MachineSet, error: unknown): Promise<void> => {
    const why = error instanceof Error ? error.message : String(error);
    const reason = legacyReasons.machineSetCreateError;
    const message = `Failed to create new machine set "${set.metadata.name}": ${why}`;
    events.record(deployment, { type: "Warning", reason: eventReasons.machineSetCreateError, message });
    const before = deployment.status?.conditions ?? [];
    const rejected = { type: legacyConditionTypes.progressing, status: "False", reason, message } as const;
    const options = { now: clock.now(), updateTime: true };
    const { generation } = deployment.metadata;
    const conditions = withSummaryOfHeld(setCondition(before, rejected, options), before, { ...options, generation });
    // The template has no set, so no machine has it.
    await deployments.writeStatus(deployment, { ...deployment.status, updatedReplicas: 0, conditions });
  };

  return async (deployment, set) => {
    await confirmUnchanged(deployment);
    try {
      await sets.create(set);
    } catch (error) {
      if (isAlreadyExists(error)) return useOrAvoid(deployment, set);
      // No event could be written in a terminating namespace.
      if (!isNamespaceTerminating(error)) await recordRejection(deployment, set, error);
      throw error;
    }
  };
}
