import { readFile } from "node:fs/promises";
import { readRecording } from "./read-recording.ts";
import { type ReplayedExchange, replayRecording } from "./replay-recording.ts";
import { startTarget } from "./start-target.ts";

/** What came of a recording, driver by driver. */
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

/** The report for people: each difference once, with how often and in which request it was found first. */
export function renderReplay(report: ReplayReport): string {
  const lines: string[] = [];
  for (const [driver, exchanges] of report) {
    const skipped = exchanges.filter((exchange) => exchange.skipped !== undefined);
    lines.push(`${driver}: ${exchanges.length} exchanges, ${skipped.length} not replayed`);
    for (const reason of new Set(skipped.map((exchange) => exchange.skipped))) {
      lines.push(`  not replayed (${reason}): ${skipped.filter((exchange) => exchange.skipped === reason).length}`);
    }
    const found = new Map<string, { readonly request: string; times: number }>();
    for (const { request, differences } of exchanges) {
      for (const { field, cloud, emulator } of differences) {
        const text = `${field}: cloud ${cloud}, emulator ${emulator}`;
        const known = found.get(`${request.split(" ").at(-1)} ${text}`);
        if (known === undefined)
          found.set(`${request.split(" ").at(-1)} ${text}`, { request: `${request}\n    ${text}`, times: 1 });
        else known.times++;
      }
    }
    for (const { request, times } of found.values()) lines.push(`  ${request} (${times}x)`);
    if (found.size === 0) lines.push("  no differences");
  }
  return lines.join("\n");
}
