import type { MachineSetReport } from "@millwright/runtime";
import { plain, table } from "../terminal/text.ts";
import { endOf, phasesText, unobserved } from "./group-lines.ts";

/** A set as `kubectl describe` would show it, with its machines by phase. */
export function renderSet(report: MachineSetReport, lineWidth?: number): string {
  const { desired, ready, available, phases } = report;
  return [
    ...table([
      ["Name:", report.name],
      ["Namespace:", report.namespace],
      ["Deployment:", plain(report.deployment) || "-"],
      ["Revision:", plain(report.revision) || "-"],
      ["Class:", plain(report.className) || "-"],
      ["Machines:", `${desired} desired, ${ready} ready, ${available} available: ${phasesText(phases)}`],
    ]),
    ...unobserved(report),
    ...endOf(report, lineWidth),
    "",
  ].join("\n");
}
