import type { CheckStatus } from "@millwright/core";
import type { Diagnosis, DiagnosedSubject } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";

/** The mark of a check; failures are in capitals, to be found easily. */
const marks = { ok: "ok", warning: "warning", failed: "FAILED", skipped: "skipped" } as const satisfies Record<
  CheckStatus,
  string
>;

const MARK_WIDTH = 9;
const LINE_WIDTH = 80;

/** A text in lines of at most 80 columns, all but the first indented; words that are longer stay whole. */
function wrap(text: string, indent: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((each) => each !== "")) {
    if (line !== "" && indent + line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each, index) => (index === 0 ? each : `${" ".repeat(indent)}${each}`));
}

type Check = DiagnosedSubject["checks"][number];

function linesOf({ name, status, message, remedy }: Check): readonly string[] {
  const indent = 2 + MARK_WIDTH;
  return [
    `  ${marks[status].padEnd(MARK_WIDTH)}${wrap(plain(`${name}: ${message}`), indent).join("\n")}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(indent)}${wrap(plain(`-> ${remedy}`), indent).join("\n")}`]),
  ];
}

function summaryOf(subjects: readonly DiagnosedSubject[]): string {
  const checks = subjects.flatMap((subject) => subject.checks);
  const counts = (["failed", "warning", "skipped"] as const).flatMap((status) => {
    const count = checks.filter((check) => check.status === status).length;
    return count === 0 ? [] : [`${count} ${status === "warning" && count > 1 ? "warnings" : status}`];
  });
  return `${checks.length} check${checks.length === 1 ? "" : "s"}: ${counts.length === 0 ? "all ok" : counts.join(", ")}.`;
}

/** The diagnosis as text: a section for each subject, a line for each check, and a summary. */
export function renderDiagnosis({ namespace, subjects }: Diagnosis): string {
  return [
    ...subjects.flatMap(({ subject, checks }) => [`${plain(subject)}:`, ...checks.flatMap(linesOf)]),
    `Namespace ${plain(namespace)}: ${summaryOf(subjects)}`,
    "",
  ].join("\n");
}
