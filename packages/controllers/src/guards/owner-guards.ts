import { legacyConditionTypes, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import type { ApiObject, ConditionState } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { areNodesUnread, unreadTargetHold } from "../cluster/unread-target.ts";
import { crdGuardOfClasses, crdGuardOfOwners } from "../crd-guard/guard.ts";
import { isProtected, protectedOwnerHold } from "../model/deletion-protection.ts";
import { type Guard, type Hold, holdOn } from "../model/hold.ts";
import { holdsOfSets, stateOfHold } from "../model/hold-condition.ts";
import { frozenState } from "../safety/freeze-deployment.ts";
import { shownFreezes } from "../safety/freeze-set.ts";

/** All reasons to do nothing about a set or a deployment, in their order. A deletion budget is none: it is a count, which the planner of a set reads. */
export const ownerGuards = (
  { crdGuard, caches: { sets, deployments } }: Pick<ControllerContext, "crdGuard" | "caches">,
  kind: "MachineSet" | "MachineDeployment",
): readonly Guard<ApiObject>[] =>
  crdGuard === undefined
    ? []
    : [crdGuardOfOwners(crdGuard, kind, kind === "MachineSet" ? sets.store : deployments.store)];

/** All reasons to keep a class that is terminating, besides the machines that need it. */
export const classGuards = ({
  crdGuard,
  caches,
}: Pick<ControllerContext, "crdGuard" | "caches">): readonly Guard<ApiObject>[] =>
  crdGuard === undefined ? [] : [crdGuardOfClasses(crdGuard, caches.classes.store)];

/** What is held of all sets and deployments. */
export const commonHolds = (context: Pick<ControllerContext, "target">): readonly Hold[] =>
  areNodesUnread(context) ? [unreadTargetHold] : [];

/**
 * What is held of a set or a deployment, besides what its guards hold.
 *
 * @param deployment the object itself, or the one that controls it
 * @param common what is held of all
 */
export const holdsOfOwner = (
  { metadata }: ApiObject,
  deployment: MachineDeployment | undefined,
  common: readonly Hold[] = [],
): readonly Hold[] =>
  metadata.deletionTimestamp != null && deployment !== undefined && isProtected(deployment)
    ? [protectedOwnerHold(deployment.metadata.name), ...common]
    : common;

/** What holds the creation of the machines of an owner, as its labels and its newest conditions show it. */
export const shownCreationHolds: (...owner: Parameters<typeof shownFreezes>) => readonly Hold[] = shownFreezes;

/** The conditions of a deployment that show what is held of it, and of its sets. Its freeze follows their labels. */
export const holdStates = (
  heldBy: readonly Hold[] | undefined,
  sets: readonly MachineSet[],
): readonly (ConditionState | undefined)[] => [
  frozenState(sets),
  stateOfHold(holdOn(heldBy, "deletion")),
  ...holdsOfSets(sets).filter(({ type }) => type !== legacyConditionTypes.frozen),
];
