import type { MachineClassReport } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";
import { phasesText } from "./group-lines.ts";

/** A class as `kubectl describe` would show it, with its machines, their failures, and the VMs without machine that are recorded on it. */
export function renderClass(report: MachineClassReport): string {
  const { name, namespace, provider, secrets, phases, isHeldBack, failures, orphans, notes } = report;
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
      ["Secrets:", secrets.map(plain).join(", ") || "-"],
      ["Machines:", phasesText(phases)],
      ...(isHeldBack ? [["Credential:", "calls are held back, see the failures"]] : []),
    ]),
    ...section(
      "Failures",
      failures.map(({ code, machines, example, message }) =>
        plain(`${machines} with ${code || "no code"}, such as ${example}: ${message}`).replaceAll("\n", " "),
      ),
    ),
    ...section(
      "VMs without machine",
      rows.length === 0 ? [] : table([["ID", "FOR MACHINE", "QUARANTINED", "DELETED AFTER"], ...rows]),
    ),
    ...section("Notes", notes),
    "",
  ].join("\n");
}
