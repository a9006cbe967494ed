import type { MachineDeployment } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { areNodesUnread, unreadTargetHold } from "../cluster/unread-target.ts";
import { crdGuardOfOwners } from "../crd-guard/guard.ts";
import { isProtected, protectedOwnerHold } from "../model/deletion-protection.ts";
import type { Guard, Hold } from "../model/hold.ts";

/** All reasons to do nothing about a set or a deployment, in their order. A deletion budget is none: it is a count, which the planner of a set reads. */
export const ownerGuards = (
  { crdGuard }: Pick<ControllerContext, "crdGuard">,
  kind: "MachineSet" | "MachineDeployment",
): readonly Guard<ApiObject>[] => (crdGuard === undefined ? [] : [crdGuardOfOwners(crdGuard, kind)]);

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
