import { readFile } from "node:fs/promises";
import { readRecording } from "./read-recording.ts";
import { type ReplayedExchange, replayRecording } from "./replay-recording.ts";
import { startTarget } from "./start-target.ts";

/** The result of a replay by driver. */
export type ReplayReport = ReadonlyMap<string, readonly ReplayedExchange[]>;

/**
 * Replays a recording against the emulators of the clouds of its drivers.
 *
 * @throws Error when the file cannot be read, or its driver has no emulator
 */
export async function replayFile(file: string): Promise<ReplayReport> {
  const exchanges = readRecording(await readFile(file, "utf8"));
  const report = new Map<string, readonly ReplayedExchange[]>();
  for (const driver of new Set(exchanges.map((exchange) => exchange.driver))) {
    const own = exchanges.filter((exchange) => exchange.driver === driver);
    const target = await startTarget(driver, own);
    try {
      report.set(driver, await replayRecording(own, target));
    } finally {
      await target.close();
    }
  }
  return report;
}

/** The readable report: each difference of each request once, with its count. */
export function renderReplay(report: ReplayReport): string {
  const lines: string[] = [];
  for (const [driver, exchanges] of report) {
    const skipped = exchanges.filter((exchange) => exchange.skipped !== undefined);
    lines.push(`${driver}: ${exchanges.length} exchanges, ${skipped.length} not replayed`);
    for (const reason of new Set(skipped.map((exchange) => exchange.skipped))) {
      lines.push(`  not replayed (${reason}): ${skipped.filter((exchange) => exchange.skipped === reason).length}`);
    }
    const found = new Map<string, Map<string, number>>();
    for (const { request, differences } of exchanges) {
      for (const { field, cloud, emulator } of differences) {
        const text = `${field}: cloud ${cloud}, emulator ${emulator}`;
        const times = found.get(request) ?? new Map<string, number>();
        found.set(request, times.set(text, (times.get(text) ?? 0) + 1));
      }
    }
    for (const [request, texts] of found) {
      lines.push(`  ${request}`, ...[...texts].map(([text, times]) => `    ${text} (${times}x)`));
    }
    if (found.size === 0) lines.push("  no differences");
  }
  return lines.join("\n");
}
