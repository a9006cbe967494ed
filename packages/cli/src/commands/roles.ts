import { type RequiredPermission, requiredRoles } from "@millwright/core";

/** Flags of `millwright roles`. */
export interface RolesFlags {
  readonly cluster: RequiredPermission["cluster"] | "both";
  readonly namespace: string;
}

/** Prints the roles that the controllers need, one YAML document each, without role bindings. */
export async function printRoles({ cluster, namespace }: RolesFlags): Promise<void> {
  const { stringify } = await import("yaml");
  const clusters = cluster === "both" ? (["control", "target"] as const) : [cluster];
  process.stdout.write(
    clusters
      .flatMap((each) => requiredRoles(each, namespace))
      .map((role) => `---\n${stringify(role, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
      .join(""),
  );
}
