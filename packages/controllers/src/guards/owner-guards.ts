import type { ApiObject } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { crdGuardOfOwners } from "../crd-guard/guard.ts";
import type { Guard } from "../model/hold.ts";

/** All reasons to do nothing about a set or a deployment, in their order. A deletion budget is none: it is a count, which the planner of a set reads. */
export const ownerGuards = (
  { crdGuard }: Pick<ControllerContext, "crdGuard">,
  kind: "MachineSet" | "MachineDeployment",
): readonly Guard<ApiObject>[] => (crdGuard === undefined ? [] : [crdGuardOfOwners(crdGuard, kind)]);
