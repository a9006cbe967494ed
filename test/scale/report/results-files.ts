import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resultKey, rounded, type RunResult } from "./run-result.ts";

/** The committed results. */
export const baselineFile = fileURLToPath(new URL("../baseline.json", import.meta.url));
/** Where results are stored that are not committed. */
export const resultsFolder = fileURLToPath(new URL("../results/", import.meta.url));

/** Reads results; none when there is no file. */
export function readResults(file: string): readonly RunResult[] {
  if (!existsSync(file)) return [];
  const { runs }: { readonly runs: readonly RunResult[] } = JSON.parse(readFileSync(file, "utf8"));
  return runs;
}

/** Writes a result to a file of its own in a folder; returns the path. */
export function writeResult(folder: string, result: RunResult): string {
  mkdirSync(folder, { recursive: true });
  const name = [result.date.replaceAll(/[:.]/g, "-"), result.scenario, result.machines, result.subject].join("-");
  const path = join(folder, `${name}.json`);
  writeFileSync(path, textOf([result]));
  return path;
}

/** The results with a new one in the place of that of the same measurement. */
export function withResult(results: readonly RunResult[], result: RunResult): readonly RunResult[] {
  const key = resultKey(result);
  const isKnown = results.some((each) => resultKey(each) === key);
  return isKnown ? results.map((each) => (resultKey(each) === key ? result : each)) : [...results, result];
}

/** Adds a result to the committed ones, or replaces that of the same measurement. */
export function saveResult(file: string, result: RunResult): void {
  writeFileSync(file, textOf(withResult(readResults(file), result)));
}

const textOf = (runs: readonly RunResult[]): string => `${JSON.stringify({ runs: rounded(runs) }, undefined, 2)}\n`;
