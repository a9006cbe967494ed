import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect } from "vitest";

const urlOf = (name: string): URL => new URL(`../system/testdata/transcripts/${name}.txt`, import.meta.url);

/** Names that are generated, in the order in which they appear, get the same suffixes in every run. */
function withoutSuffixes(text: string): string {
  const seen = new Map<string, string>();
  const stable = (suffix: string): string => {
    const known = seen.get(suffix) ?? String.fromCodePoint(97 + (seen.size % 26)).repeat(5);
    seen.set(suffix, known);
    return known;
  };
  return text.replaceAll(
    /\b(pool|fleet|web)-([a-z0-9]{5,10})(-([a-z0-9]{5}))?\b/g,
    (_, name: string, set: string, __, machine: string | undefined) =>
      `${name}-${stable(set)}${machine === undefined ? "" : `-${stable(machine)}`}`,
  );
}

/** A transcript without what differs from run to run: generated names, ids, times and durations. */
export const normalize = (text: string): string =>
  withoutSuffixes(text)
    .replaceAll(/(mock|sim):\/\/\/[^\s,;)]*[^\s,;).]/g, "mock:///vm-1")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-01-01T00:00:00Z")
    .replaceAll(/\buid=[0-9a-f]{8}\b/g, "uid=0a1b2c3d")
    .replaceAll(/\b(for|in|last) (?:\d+[smhd])+\b/g, "$1 5m")
    .replaceAll(/\b\d+ attempts?\b/g, "4 attempts")
    .replaceAll(/\battempt \d+\b/g, "attempt 4")
    .replaceAll(/\bpvc(-[0-9a-f]+){5}/g, "pvc-1")
    .replaceAll(/(\bnext\s+after\s+)\S+(\s+or\s+more)/g, (_, before: string, after: string) => `${before}15s${after}`)
    // Known from the second attempt on, and only until it may have been made.
    .replaceAll(/\bthe\s+next\s+in\s+\w+\s+at\s+the\s+earliest;\s+/g, "");

/** A command line and its output. */
export type Shown = readonly [command: string, output: string];

/**
 * Compares the output of commands with their transcript, `test/system/testdata/transcripts`. With the variable `UPDATE_TRANSCRIPTS` it writes the transcript; `npm run docs` then
 * brings it into the guide.
 */
export async function checkTranscript(name: string, ...shown: readonly Shown[]): Promise<void> {
  const text = normalize(shown.map(([command, output]) => `$ ${command}\n${output}`).join("\n"));
  const url = urlOf(name);
  if (process.env["UPDATE_TRANSCRIPTS"] !== undefined) {
    await mkdir(dirname(url.pathname), { recursive: true });
    await writeFile(url, text);
  }
  // Lines are broken where names have their real length.
  const words = (lines: string): string => lines.replaceAll(/[\s│├└─]+/g, " ");
  expect(words(text)).toBe(words(await readFile(url, "utf8")));
}
