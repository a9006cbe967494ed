import type { DeploymentReport } from "@millwright/runtime";
import { renderTree, type TreeLayout } from "../explain/render-tree.ts";
import { plain, section, SECTION_INDENT, table } from "../terminal/text.ts";
import { endOf, phasesText, unobserved } from "./group-lines.ts";

/** A deployment as `kubectl describe` would show it, its sets, machines and nodes as a tree. */
export function renderDeployment(
  report: DeploymentReport,
  layout: TreeLayout & { readonly lineWidth?: number },
): string {
  const { desired, ready, available, updated, sets, tree } = report;
  const { lineWidth } = layout;
  return [
    ...table([
      ["Name:", report.name],
      ["Namespace:", report.namespace],
      ["Strategy:", plain(report.strategy)],
      ["Class:", plain(report.className) || "-"],
      ["Machines:", `${desired} desired, ${updated} up to date, ${ready} ready, ${available} available`],
    ]),
    ...unobserved(report),
    ...section(
      "Sets",
      sets.length === 0
        ? []
        : table(
            [
              ["NAME", "REVISION", "CLASS", "DESIRED", "MACHINES"],
              ...sets.map((set) => [
                `${set.name}${set.isCurrent ? " (current)" : ""}`,
                plain(set.revision) || "-",
                plain(set.className) || "-",
                String(set.desired),
                phasesText(set.phases),
              ]),
            ],
            lineWidth === undefined ? undefined : lineWidth - SECTION_INDENT,
          ),
    ),
    "",
    ...renderTree(tree, layout),
    "",
    // The tree has the failed machines.
    ...endOf({ ...report, failed: [] }, lineWidth),
    "",
  ].join("\n");
}
