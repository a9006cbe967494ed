import type { MachineClassReport } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

/** A class as `kubectl describe` would show it, with the VMs without machine that are recorded on it. */
export function renderClass({ name, namespace, provider, orphans, notes }: MachineClassReport): string {
  const rows = orphans.map(({ providerId, machine, parts, since, deleteAfter }) => [
    plain(parts.length === 0 ? providerId : `${providerId}: ${parts.join(", ")}`),
    plain(machine),
    since,
    deleteAfter === "" ? "never" : deleteAfter,
  ]);
  return [
    ...table([
      ["Name:", name],
      ["Namespace:", namespace],
      ["Provider:", plain(provider) || "-"],
    ]),
    ...section(
      "VMs without machine",
      rows.length === 0 ? [] : table([["ID", "FOR MACHINE", "QUARANTINED", "DELETED AFTER"], ...rows]),
    ),
    ...section("Notes", notes),
    "",
  ].join("\n");
}
