import type { DeploymentReport, SetReport } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

const phasesText = ({ phases }: SetReport): string =>
  Object.entries(phases)
    .map(([phase, count]) => `${count} ${plain(phase)}`)
    .join(", ") || "-";

/** A deployment as `kubectl describe` would show it, its sets with their machines by phase. */
export function renderDeployment(report: DeploymentReport): string {
  const { conditions, sets, failed, notes, desired, ready, available, updated } = report;
  return [
    ...table([
      ["Name:", report.name],
      ["Namespace:", report.namespace],
      ["Strategy:", plain(report.strategy)],
      ["Class:", plain(report.className) || "-"],
      ["Machines:", `${desired} desired, ${updated} up to date, ${ready} ready, ${available} available`],
    ]),
    ...(report.isObserved ? [] : ["The controllers have not taken note of the last change yet."]),
    ...section(
      "Sets",
      sets.length === 0
        ? []
        : table([
            ["NAME", "REVISION", "CLASS", "DESIRED", "MACHINES"],
            ...sets.map((set) => [
              `${set.name}${set.isCurrent ? " (current)" : ""}`,
              plain(set.revision) || "-",
              plain(set.className) || "-",
              String(set.desired),
              phasesText(set),
            ]),
          ]),
    ),
    ...section(
      "Conditions",
      table([
        ["TYPE", "STATUS", "REASON", "MESSAGE"],
        ...conditions.map(({ type, status, reason, message }) => [type, status, reason, plain(message)]),
      ]),
    ),
    ...section(
      "Failed machines",
      failed.map(({ name, message }) => plain(`${name}: ${message}`).replaceAll("\n", " ")),
    ),
    ...section("Notes", notes.map(plain)),
    "",
  ].join("\n");
}
