import type { DeploymentReport } from "@millwright/runtime";
import { renderTree, type TreeLayout } from "../explain/render-tree.ts";
import { plain, table } from "../terminal/text.ts";
import { endOf, phasesText, unobserved } from "./group-lines.ts";

/** Machines of all sets by phase. */
function phasesOf({ sets }: DeploymentReport): string {
  const counts = new Map<string, number>();
  for (const { phases } of sets)
    for (const [phase, count] of Object.entries(phases)) counts.set(phase, (counts.get(phase) ?? 0) + count);
  return phasesText(Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** A deployment as `kubectl describe` would show it, its sets, machines and nodes as a tree. */
export function renderDeployment(report: DeploymentReport, layout: TreeLayout): string {
  const { desired, ready, available, updated, tree } = report;
  return [
    ...table([
      ["Name:", report.name],
      ["Namespace:", report.namespace],
      ["Strategy:", plain(report.strategy)],
      ["Class:", plain(report.className) || "-"],
      ["Machines:", `${desired} desired, ${updated} up to date, ${ready} ready, ${available} available`],
      ["Phases:", phasesOf(report)],
    ]),
    ...unobserved(report),
    "",
    ...renderTree(tree, layout),
    "",
    // The tree has the failed machines.
    ...endOf({ ...report, failed: [] }),
    "",
  ].join("\n");
}
