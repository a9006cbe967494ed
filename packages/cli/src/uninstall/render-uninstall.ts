import type { UninstallReport } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

/** What the report is about: what was done, or would be. */
export type UninstallMode = "dry-run" | "done";

function removalRows({ removals }: UninstallReport): readonly (readonly string[])[] {
  const kinds = [...new Set(removals.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const ofKind = removals.filter((removal) => removal.kind === kind);
    const count = (isCounted: (removal: UninstallReport["removals"][number]) => boolean): string =>
      String(ofKind.filter(isCounted).length);
    return [
      kind,
      count(({ finalizer }) => finalizer !== undefined),
      count(({ annotations }) => annotations.length > 0),
    ];
  });
}

/** A name that may be too long for one line with others. */
const vmLines = ({ leaves }: UninstallReport): readonly string[] =>
  leaves.vms.flatMap(({ machine, providerId }) => [`${plain(machine)}:`, `  ${plain(providerId)}`]);

/** The result of `millwright uninstall` as text. Only the id of a VM may exceed 80 columns: it is never cut. */
export function renderUninstall(report: UninstallReport, mode: UninstallMode): string {
  const rows = removalRows(report);
  const left = Object.entries(report.leaves.objects).filter(([, count]) => count > 0);
  const title = mode === "done" ? "Removed from objects" : "Would be removed from objects (add --yes)";
  const lines = [
    ...(rows.length === 0
      ? ["No object has a finalizer or an annotation to remove."]
      : section(title, table([["KIND", "FINALIZERS", "ANNOTATIONS"], ...rows]))),
    ...section(
      "Left, to be deleted by you",
      left.map(([kind, count]) => `${kind}: ${count}`),
    ),
    ...section("VMs that keep running, by machine", vmLines(report)),
    "The CRDs, Secrets and Leases are left, too.",
    ...(mode === "done" ? [] : holderLines(report)),
  ];
  return `${lines.join("\n")}\n`;
}

function holderLines({ holders }: UninstallReport): readonly string[] {
  if (holders.length === 0) return [];
  return [
    "",
    ...section(
      "Stop these processes first",
      holders.map(({ lease, holder }) => `${plain(holder)}\n  holds ${lease}`),
    ).flatMap((line) => line.split("\n").map((part, index) => (index === 0 ? part : `  ${part}`))),
  ];
}
