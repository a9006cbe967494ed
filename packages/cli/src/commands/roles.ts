import { type RequiredPermission, requiredRoles } from "@millwright/core/machine-api";
import { printObjects } from "./crds.ts";

/** Flags of `millwright roles`. */
export interface RolesFlags {
  readonly cluster: RequiredPermission["cluster"] | "both";
  readonly namespace: string;
  readonly output: "yaml" | "json";
  /** The roles of `millwright run --shadow`. */
  readonly shadow?: true;
}

/** Prints the roles that the controllers need, without role bindings. */
export async function printRoles({ cluster, namespace, output, shadow }: RolesFlags): Promise<void> {
  const clusters = cluster === "both" ? (["control", "target"] as const) : [cluster];
  await printObjects(
    clusters.flatMap((each) => requiredRoles(each, namespace, { isShadow: shadow === true })),
    output,
  );
}
