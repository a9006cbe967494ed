import { toPrintable } from "@millwright/base";
import { areaOf } from "../rules/registry.ts";
import type { CheckResult, CheckStatus } from "./check-result.ts";
import type { ConformanceReport } from "./report.ts";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escape = (text: string): string =>
  toPrintable(text).replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

function testCase({ rule, status, reason, durationMs }: CheckResult): string {
  const open = `    <testcase classname="${areaOf(rule)}" name="${rule.id}" time="${seconds(durationMs)}"`;
  if (status === "passed") return `${open}/>`;
  const tag = status === "failed" ? "failure" : "skipped";
  const why = status === "notApplicable" ? `not applicable: ${reason}` : reason;
  return `${open}>\n      <${tag} message="${escape(why)}"/>\n    </testcase>`;
}

/** What is left fails the run, also where its check did not run. */
const leftoversCase = (leftovers: readonly string[]): string =>
  `    <testcase classname="run" name="leftovers">\n      <failure message="Left in the cloud: ${escape(leftovers.join(", "))}"/>\n    </testcase>`;

/** The report in the format of JUnit, which CI systems read. */
export function reportJunit({
  results,
  driver,
  durationMs,
  startedAt,
  suiteVersion,
  runId,
  leftovers,
}: ConformanceReport): string {
  const count = (...statuses: readonly CheckStatus[]): number =>
    results.filter(({ status }) => statuses.includes(status)).length;
  const left = leftovers.length === 0 ? [] : [leftoversCase(leftovers)];
  const properties = { driver: driver.name, version: driver.version, digest: driver.digest, suiteVersion, runId };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite name="driver ${escape(driver.name)}" tests="${results.length + left.length}" failures="${count("failed") + left.length}" skipped="${count("skipped", "notApplicable")}" time="${seconds(durationMs)}" timestamp="${startedAt.toISOString()}">`,
    "    <properties>",
    ...Object.entries(properties).flatMap(([name, value]) =>
      value === undefined ? [] : [`      <property name="${name}" value="${escape(value)}"/>`],
    ),
    "    </properties>",
    ...results.map(testCase),
    ...left,
    "</testsuite></testsuites>",
    "",
  ].join("\n");
}
