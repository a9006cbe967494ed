import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule, TestSuite, Vitest } from "vitest/node";

/**
 * Vitest reporter whose only output are a line `failed: FILE > TEST: REASON` for each failure and the closing line
 * `N passed, N failed` (with `, N skipped` when tests were skipped). A file that cannot be loaded, a failed hook of a group and
 * an error outside of any test count as one failure each, so that a failed run never ends with "0 failed". A group whose tests are skipped, because this
 * computer lacks what they need, is named as `not run: FILE > GROUP`; not in a run of selected tests, which skips all others.
 */
export default class SummaryReporter implements Reporter {
  #isOfSelected = false;

  onInit({ config }: Vitest): void {
    this.#isOfSelected = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const error of unhandledErrors) console.log(`failed: outside of any test: ${firstLine([error])}`);
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      if (module.errors().length > 0) {
        count.failed += 1;
        console.log(`failed: ${file}: ${firstLine(module.errors())}`);
      }
      // Hooks of a group of tests: when one fails before the tests, these count as skipped; after them, as passed.
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length === 0) {
          if (!this.#isOfSelected && isSkipped(suite)) console.log(`not run: ${file} > ${suite.fullName}`);
          continue;
        }
        count.failed += 1;
        console.log(`failed: ${file} > ${suite.fullName}: ${firstLine(suite.errors())}`);
      }
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        // A test that never finished (the run was interrupted) has not passed.
        const outcome = state === "pending" ? "failed" : state;
        count[outcome] += 1;
        if (outcome === "failed") console.log(`failed: ${file} > ${test.fullName}: ${firstLine(errors ?? [])}`);
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    console.log(`${count.passed} passed, ${count.failed} failed${skipped}`);
  }
}

/** Whether a group has tests of its own, and all of them are skipped. */
function isSkipped({ children }: TestSuite): boolean {
  const states = [...children].flatMap((child) => (child.type === "test" ? [child.result().state] : []));
  return states.length > 0 && states.every((state) => state === "skipped");
}

function firstLine(errors: readonly { readonly message: string }[]): string {
  return stripVTControlCharacters(errors[0]?.message ?? "not finished").split("\n", 1)[0] ?? "";
}
