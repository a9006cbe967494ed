import type { MachineClassReport } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";
import { phasesText } from "./group-lines.ts";

/** From when on a VM without machine is deleted, or how far that is. */
function deletionOf({ deleteAfter, draining, deleted }: MachineClassReport["orphans"][number]): string {
  if (deleted !== undefined) return `deleted ${deleted}, Node remains`;
  if (draining !== undefined) return `its drain, since ${draining}`;
  return deleteAfter === "" ? "never" : deleteAfter;
}

const statusText = ({ reason, since, message }: NonNullable<MachineClassReport["status"]>): string =>
  plain(`${reason} since ${since}${message === "" ? "" : `: ${message}`}`).replaceAll("\n", " ");

/** A class as `kubectl describe` would show it, with its machines, their failures, and the VMs without machine that are recorded on it. */
export function renderClass(report: MachineClassReport): string {
  const { name, namespace, provider, status, secrets, phases, isHeldBack, failures, orphans, notes } = report;
  const rows = orphans.map((orphan) => [
    plain(orphan.parts.length === 0 ? orphan.providerId : `${orphan.providerId}: ${orphan.parts.join(", ")}`),
    plain(orphan.machine),
    orphan.since,
    deletionOf(orphan),
  ]);
  return [
    ...table([
      ["Name:", name],
      ["Namespace:", namespace],
      ["Provider:", plain(provider) || "-"],
      ...(status === undefined ? [] : [["Status:", statusText(status)]]),
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
