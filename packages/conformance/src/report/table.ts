import { toPrintable } from "@millwright/base";
import type { CheckResult, CheckStatus } from "./check-result.ts";
import { reachedLevel } from "./level.ts";
import { type ConformanceReport, isPassed } from "./report.ts";

const width = 80;

const labels: Readonly<Record<CheckStatus, string>> = {
  passed: "ok",
  failed: "FAILED",
  skipped: "skipped",
  notApplicable: "n/a",
};

const labelWidth = 8;

/** Breaks a text into lines, at spaces where there are any. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    for (let rest = word; rest !== "";) {
      const space = line === "" ? 0 : 1;
      if (line.length + space + rest.length <= columns) {
        line += " ".repeat(space) + rest;
        rest = "";
      } else if (line === "") {
        lines.push(rest.slice(0, columns));
        rest = rest.slice(columns);
      } else {
        lines.push(line);
        line = "";
      }
    }
  }
  return line === "" ? lines : [...lines, line];
}

function rowOf({ rule, status, reason }: CheckResult): readonly string[] {
  const head = `${labels[status].padEnd(labelWidth)}${rule.id}${rule.mandatory ? "" : " (optional)"}`;
  const indent = " ".repeat(labelWidth + 2);
  return [head, ...wrap(toPrintable(reason), width - indent.length).map((line) => indent + line)];
}

function levelLines({ results, isComplete }: ConformanceReport): readonly string[] {
  if (!isComplete) return ["Level: not determined, because not all rules were checked."];
  const { level, missing } = reachedLevel(results);
  if (missing.length === 0) return [`Level: ${level}`];
  const next = level === "none" ? "bronze" : level === "bronze" ? "silver" : "gold";
  return wrap(`Level: ${level}. For ${next}: ${missing.map(({ rule }) => rule.id).join(", ")}`, width);
}

/** The report for people, in lines of at most 80 columns. */
export function reportTable(report: ConformanceReport): string {
  const { driver, results } = report;
  const count = (status: CheckStatus): number => results.filter((result) => result.status === status).length;
  const version = driver.version === undefined ? "" : ` ${driver.version}`;
  return [
    `Driver ${driver.name}${version}, suite ${report.suiteVersion}, profile ${report.profile}, run ${report.runId}`,
    ...(driver.digest === undefined ? [] : [driver.digest.slice(0, width)]),
    "",
    ...results.flatMap(rowOf),
    "",
    `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped, ${count("notApplicable")} not applicable`,
    ...levelLines(report),
    ...(report.leftovers.length === 0 ? [] : wrap(`Left in the cloud: ${report.leftovers.join(", ")}`, width)),
    ...(report.stopped === undefined ? [] : wrap(report.stopped, width)),
    isPassed(report) ? "The driver conforms as far as it was checked." : "The driver does not conform.",
    "",
  ].join("\n");
}
