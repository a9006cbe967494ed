import { isReturn, type OwnerIdentity, recordedRollout } from "@millwright/controllers/reports";
import { annotationKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { type ApiObject, type Condition, controllerRefOf } from "@millwright/kube";
import type { ClusterObjects } from "./cluster-objects.ts";
import { collapse } from "./collapse.ts";
import { explainMachine } from "./explain-machine.ts";
import { type Cause, type Explanation, worstOf } from "./explanation.ts";
import { rolloutRemedy, groupCauses, groupRemedy, isSpecInvalid } from "./group-causes.ts";

const isOwnedBy = (object: ApiObject, owner: ApiObject): boolean =>
  owner.metadata.uid !== undefined && controllerRefOf(object)?.uid === owner.metadata.uid;

const revisionOf = ({ metadata }: ApiObject): string => metadata.annotations?.[annotationKeys.revision] ?? "";

/** One that is being deleted is not as desired as long as it exists, whatever it still has. */
const isPresent = ({ metadata }: ApiObject): boolean => metadata.deletionTimestamp == null;

/**
 * What sets and deployments have in common.
 *
 * @param isComplete whether its status is about its current spec, and has what the spec requires
 * @param facts what is recorded besides what it waits for
 */
function explainGroup(
  identity: OwnerIdentity,
  isComplete: boolean,
  conditions: readonly Condition[],
  summary: string,
  children: readonly Explanation[],
  facts: readonly Cause[] = [],
): Explanation {
  const { blocks, progress, isProgressing } = groupCauses(conditions, children);
  const below = worstOf(children.map(({ state }) => state));
  // Of a spec that is not valid, a part is ignored, such as a maintenance window: complete is not as desired.
  const isDone = isComplete && !isProgressing && below === "ok" && !isSpecInvalid(conditions);
  // A paused deployment that is complete waits for nothing.
  const isBlocked = blocks.length > 0;
  const rollout = isBlocked ? undefined : rolloutRemedy(conditions, identity);
  const needsUser = isBlocked || rollout !== undefined;
  const state = isDone ? "ok" : needsUser ? "stuck" : worstOf([below, "waiting"]);
  const remedy = isDone ? undefined : isBlocked ? groupRemedy(conditions, identity) : rollout;
  return {
    kind: identity.kind,
    name: identity.name,
    others: [],
    state,
    summary,
    causes: [...blocks, ...progress, ...facts],
    ...(remedy === undefined ? {} : { remedy }),
    children,
  };
}

/** Explains a set and its machines. */
export async function explainSet(set: MachineSet, objects: ClusterObjects, now: Date): Promise<Explanation> {
  const owned = objects.machines.filter((machine) => isOwnedBy(machine, set));
  const machines = await Promise.all(
    owned
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map((machine) => explainMachine(machine, objects, now)),
  );
  const { metadata, spec, status = {} } = set;
  const desired = spec.replicas ?? 0;
  const ready = status.readyReplicas ?? 0;
  const owner = controllerRefOf(set);
  const deployment = owner?.kind === "MachineDeployment" ? owner.name : undefined;
  const revision = revisionOf(set);
  const summary = `${revision === "" ? "" : `revision ${revision}, `}${owned.length} of ${desired} machines, ${ready} ready`;
  return explainGroup(
    { kind: "MachineSet", name: metadata.name, namespace: objects.namespace, deployment },
    isPresent(set) && owned.length === desired && ready >= desired,
    status.machineSetCondition ?? [],
    summary,
    collapse(machines),
  );
}

/** The rollout that is under way, as the controllers record it: what a rollback returns to. */
function rolloutFacts(deployment: MachineDeployment): readonly Cause[] {
  const rollout = recordedRollout(deployment);
  if (rollout === undefined) return [];
  const { set, revision, proven, since, passed } = rollout;
  const steps = passed === undefined ? "" : ", which has passed its canary steps";
  const from = isReturn(rollout) ? "the proven template" : `from the proven template of MachineSet ${proven}`;
  return [{ reason: "Rollout", message: `Revision ${revision}, MachineSet ${set}${steps}: ${from}`, since }];
}

/** Explains a deployment, its sets and their machines; old sets without machines are left out. */
export async function explainDeployment(
  deployment: MachineDeployment,
  objects: ClusterObjects,
  now: Date,
): Promise<Explanation> {
  const { metadata, spec, status = {} } = deployment;
  const own = objects.sets
    .filter((set) => isOwnedBy(set, deployment))
    .filter(
      (set) =>
        (set.spec.replicas ?? 0) > 0 ||
        revisionOf(set) === revisionOf(deployment) ||
        objects.machines.some((machine) => isOwnedBy(machine, set)),
    )
    .toSorted((a, b) => Number(revisionOf(b)) - Number(revisionOf(a)) || (a.metadata.name < b.metadata.name ? -1 : 1));
  const sets = await Promise.all(own.map((set) => explainSet(set, objects, now)));
  const desired = spec.replicas ?? 0;
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0, availableReplicas: available = 0 } = status;
  const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return explainGroup(
    { kind: "MachineDeployment", name: metadata.name, namespace: objects.namespace },
    isPresent(deployment) && isObserved && ready >= desired && updated >= desired,
    status.conditions ?? [],
    `${desired} desired, ${updated} up to date, ${ready} ready, ${available} available`,
    sets,
    rolloutFacts(deployment),
  );
}
