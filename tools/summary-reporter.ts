import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Vitest reporter whose only output is the closing line `N passed, N failed` (with `, N skipped` when tests were skipped).
 * A file that cannot be loaded and an error outside of any test count as one failure each, so that the line never says
 * "0 failed" about a run that failed.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test that never finished (the run was interrupted) has not passed.
        count[state === "pending" ? "failed" : state] += 1;
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  }
}
