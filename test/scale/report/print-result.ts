import { compare, resultLike, shown, tableLines } from "./compare.ts";
import type { RunResult } from "./run-result.ts";

/** How many kinds of requests are listed. */
const LISTED = 12;

const list = (rows: readonly (readonly [string, number])[]): string =>
  rows.map(([name, count]) => `${shown(count)} ${name}`).join(", ");

/** The report of a run for a terminal, compared with the committed result of the same measurement. */
export function reportOf(result: RunResult, baseline: readonly RunResult[]): string {
  const committed = resultLike(result, baseline);
  const against = committed === undefined ? "committed: none" : `committed ${committed.date.slice(0, 10)}`;
  const title = `${result.scenario}, ${result.machines} machines: ${result.subject} (${result.build}) on ${result.server}`;
  const more = result.requests.length - LISTED;
  return [
    title,
    ...tableLines([["", "now", against, "ratio"], ...compare(result, committed)]).map((line) => `  ${line}`),
    `  requests: ${list(result.requests.slice(0, LISTED).map(({ verb, resource, count }) => [`${verb} ${resource}`, count]))}${more > 0 ? `, ${more} more kinds` : ""}`,
    ...result.processes.map(
      ({ name, cpuSeconds, threads }) =>
        `  CPU of ${name}: ${shown(cpuSeconds)} s: ${list(threads.map((thread) => [thread.name, thread.cpuSeconds]))}`,
    ),
    `  requests of others: ${list(Object.entries(result.otherRequests))}`,
    `  CPU of others, s: ${list(result.others.map(({ name, cpuSeconds }) => [name, cpuSeconds]))}`,
    "",
  ].join("\n");
}

/** The comparison of two kinds of controllers in one scenario. */
export function sideBySide(result: RunResult, other: RunResult): string {
  const head = ["", result.subject, other.subject, "ratio"];
  return [
    `${result.scenario}, ${result.machines} machines: ${result.subject} (${result.build}) and ${other.subject} (${other.build})`,
    ...tableLines([head, ...compare(result, other)]).map((line) => `  ${line}`),
    "",
  ].join("\n");
}
