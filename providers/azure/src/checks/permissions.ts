import { fieldOf } from "@millwright/core/driver-kit";
import { subnetIdOf } from "../launch/resource-ids.ts";
import type { AzureSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** Actions that every class needs in its resource group. */
const actionsInGroup = [
  "Microsoft.Compute/virtualMachines/read",
  "Microsoft.Compute/virtualMachines/write",
  "Microsoft.Compute/virtualMachines/delete",
  "Microsoft.Compute/disks/read",
  "Microsoft.Compute/disks/write",
  "Microsoft.Compute/disks/delete",
  "Microsoft.Network/networkInterfaces/read",
  "Microsoft.Network/networkInterfaces/write",
  "Microsoft.Network/networkInterfaces/delete",
  "Microsoft.Network/networkInterfaces/join/action",
] as const;

const join = "Microsoft.Network/virtualNetworks/subnets/join/action";

/** What one role assignment allows. */
interface Permission {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

const readPermission = (assignment: unknown): Permission => ({
  actions: textsOf(fieldOf(assignment, "actions")),
  notActions: textsOf(fieldOf(assignment, "notActions")),
});

/** Whether an action is one of a pattern, in which `*` stands for any text. Case does not matter. */
function fits(action: string, pattern: string): boolean {
  const literal = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join(".*")}$`, "i").test(action);
}

/** Whether an assignment allows an action that it does not take out again. Source: Azure RBAC, "Understand role definitions". */
export const isGranted = (action: string, permissions: readonly Permission[]): boolean =>
  permissions.some(
    ({ actions, notActions }) =>
      actions.some((pattern) => fits(action, pattern)) && !notActions.some((pattern) => fits(action, pattern)),
  );

/** Whether the application has the actions of the driver's role in the resource group, and may use the subnet. */
export async function checkPermissions(spec: AzureSpec, { session, context }: MethodCall): Promise<Finding> {
  const { api, subscriptionId } = session;
  const group = `/subscriptions/${subscriptionId}/resourceGroups/${spec.resourceGroup}`;
  const missingAt = async (scope: string, actions: readonly string[]): Promise<readonly string[] | undefined> => {
    const path = `${scope}/providers/Microsoft.Authorization/permissions`;
    const found = await api.listResources("Microsoft.Authorization/permissions", path, context.signal);
    if (found === undefined) return undefined;
    const permissions = found.map(readPermission);
    return actions.filter((action) => !isGranted(action, permissions));
  };
  const [inGroup, atSubnet = []] = await Promise.all([
    missingAt(group, actionsInGroup),
    missingAt(subnetIdOf(subscriptionId, spec), [join]),
  ]);
  if (inGroup === undefined)
    return {
      status: "failed",
      message: `providerSpec.resourceGroup: there is no resource group "${spec.resourceGroup}".`,
    };
  const missing = [
    ...(inGroup.length === 0 ? [] : [`in resource group "${spec.resourceGroup}": ${inGroup.join(", ")}`]),
    ...(atSubnet.length === 0 ? [] : [`at the subnet: ${atSubnet.join(", ")}`]),
  ];
  if (missing.length === 0)
    return { status: "ok", message: "All actions of the role of the driver are allowed, and joining the subnet." };
  return {
    status: "failed",
    message: `Not allowed ${missing.join("; ")}.`,
    remedy: "Grant the application the role in the README of the driver.",
  };
}
