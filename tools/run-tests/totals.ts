import { stripVTControlCharacters } from "node:util";

/** Sums what the runs of several packages report. */
export interface Totals {
  /** Takes a line of output: the closing lines of tools/summary-reporter.ts count, all others are ignored. */
  read(line: string): void;
  /** A line for each failure, and the sums as the last line. A run with another status than 0 has at least one failure. */
  closingLines(status: number): readonly string[];
}

/** The output of a run may hold those of any number of packages. */
export function createTotals(): Totals {
  const failures: string[] = [];
  let [passed, failed, skipped] = [0, 0, 0];
  return {
    read(line) {
      const text = stripVTControlCharacters(line);
      if (text.startsWith("failed: ")) failures.push(text);
      const counts = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(text);
      if (counts === null) return;
      passed += Number(counts[1]);
      failed += Number(counts[2]);
      skipped += Number(counts[3] ?? 0);
    },
    closingLines(status) {
      const isUnexplained = status !== 0 && failed === 0;
      const unexplained = `failed: outside of any test: the run ended with status ${status}`;
      const sums = `${passed} passed, ${failed + (isUnexplained ? 1 : 0)} failed`;
      return [...failures, ...(isUnexplained ? [unexplained] : []), skipped > 0 ? `${sums}, ${skipped} skipped` : sums];
    },
  };
}
