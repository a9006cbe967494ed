import type { MachineReport } from "@millwright/runtime";
import { ago } from "../terminal/relative-time.ts";
import { plain, section, SECTION_INDENT, table } from "../terminal/text.ts";

const nodeTexts: Readonly<Record<MachineReport["node"]["state"], string>> = {
  present: "",
  missing: " (does not exist)",
  unreachable: " (its API server is unreachable)",
  none: " (no target cluster)",
};

const taintText = ({ taint, kind }: NonNullable<MachineReport["taints"]>[number]): string =>
  `${plain(taint)} (${kind === "Startup" ? "startup taint: pods wait until an agent removes it" : "not in the template"})`;

function headLines(report: MachineReport, now: Date, lineWidth: number | undefined): readonly string[] {
  const { machineClass, node, lastOperation: operation } = report;
  const since = ago(report.since, now);
  const owner = [report.machineDeployment, report.machineSet].filter((name) => name !== undefined).join(" / ");
  const code = operation?.errorCode ?? "";
  const summary = [operation?.type ?? "", operation?.state ?? "", code].filter((text) => text !== "").join(" ");
  const when = ago(operation?.lastUpdateTime ?? undefined, now);
  const text = plain(operation?.description ?? "").trim();
  const rows = [
    ["Name:", report.name],
    ["Namespace:", report.namespace],
    ["Phase:", `${plain(report.phase) || "(being created)"}${since === "" ? "" : ` for ${since}`}`],
    ["Owner:", owner || "-"],
    ["Class:", `${machineClass.name || "-"}${machineClass.exists ? "" : " (does not exist)"}`],
    ["VM:", plain(report.providerId) || "-"],
    ["Node:", `${node.name || "-"}${nodeTexts[node.state]}`],
    ...(report.taints === undefined ? [] : [["Taints:", report.taints.map(taintText).join("\n")]]),
    ...(report.clockSkews ?? []).map((skew) => ["Clocks:", plain(skew)]),
    ...(report.deletionPaused === undefined ? [] : [["Deletion:", plain(report.deletionPaused)]]),
    [
      "Last operation:",
      summary === "" ? "-" : `${summary}${when === "" ? "" : `, ${when} ago`}${text === "" ? "" : `\n${text}`}`,
    ],
  ];
  return table(rows, lineWidth);
}

/** A machine as `kubectl describe` would show it, and what comes next. */
export function renderMachine(report: MachineReport, now: Date, lineWidth?: number): string {
  const width = lineWidth === undefined ? undefined : lineWidth - SECTION_INDENT;
  const { conditions, history, problems, next } = report;
  const conditionRows = conditions.map(({ type, status, reason, message }) => [type, status, reason, plain(message)]);
  const historyRows = history.map(({ time = "", operation = "", outcome = "", message = "" }) => [
    time,
    operation,
    outcome,
    plain(message).replaceAll("\n", " "),
  ]);
  const deadline =
    next.deadline === undefined ? [] : [`At ${next.deadline.time} at the latest ${next.deadline.effect}.`];
  return [
    ...headLines(report, now, lineWidth),
    ...section("Conditions", table([["TYPE", "STATUS", "REASON", "MESSAGE"], ...conditionRows], width)),
    ...section(
      "History",
      historyRows.length === 0 ? [] : table([["TIME", "OPERATION", "OUTCOME", "MESSAGE"], ...historyRows], width),
    ),
    ...section(
      "Problems",
      problems.map(({ path, message }) => plain(`${path}: ${message}`)),
      lineWidth,
    ),
    ...section("What the controllers do", [next.controller, ...deadline], lineWidth),
    ...section("What you can do", [next.person], lineWidth),
    "",
  ].join("\n");
}
