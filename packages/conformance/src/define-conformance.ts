import { createCheckRunner } from "./checks/run-check.ts";
import { sweepEarlier, sweepOwn } from "./checks/sweep.ts";
import type { CheckResult } from "./report/check-result.ts";
import { reachedLevel } from "./report/level.ts";
import type { KnownRule } from "./rules/registry.ts";
import { type ConformanceLevel, conformanceLevels } from "./rules/rule.ts";
import { selectRules } from "./run-conformance.ts";
import { type ConformanceOptions, openSession, type Session } from "./session/session.ts";

/** What a test gets: the context of Vitest or of node:test. */
interface TestContext {
  skip?(reason?: string): unknown;
}

type TestBody = (context: TestContext) => Promise<void>;

/** Options of {@link defineConformance}. */
export interface DefineConformanceOptions extends ConformanceOptions {
  /** Name of the group of tests. */
  readonly name?: string;
  /** Ids of rules, or their first parts. Default: all. */
  readonly only?: readonly string[];
  /** Fails unless this level is reached. Default: only failed checks fail. */
  readonly level?: ConformanceLevel;
  /** `describe` of Vitest or node:test. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** `it` or `test` of Vitest or node:test. */
  readonly it: (name: string, body: TestBody) => unknown;
  /** `afterAll` of Vitest, or `after` of node:test. */
  readonly afterAll: (body: () => Promise<void>) => unknown;
}

interface Running {
  readonly session: Session;
  readonly check: (rule: KnownRule) => Promise<CheckResult>;
}

/**
 * Defines a test for each rule of the driver contract. Rules that cannot be checked, or do not apply, are skipped with their reason.
 *
 * @example
 * import { afterAll, describe, it } from "vitest";
 * defineConformance({ driver, machineClass: { providerSpec }, secret: {}, describe, it, afterAll });
 */
export function defineConformance({ describe, it, afterAll, only, level, ...options }: DefineConformanceOptions): void {
  describe(options.name ?? `conformance of the driver ${options.driver?.name ?? ""}`.trim(), () => {
    let running: Promise<Running> | undefined;
    const results: CheckResult[] = [];
    const start = async (): Promise<Running> => {
      const session = await openSession(options);
      await sweepEarlier(session);
      return { session, check: createCheckRunner(session) };
    };
    afterAll(async () => {
      if (running === undefined) return;
      const { session } = await running;
      try {
        await sweepOwn(session);
      } finally {
        await session.close();
      }
    });
    for (const rule of selectRules(only)) {
      it(`${rule.id}: ${rule.title}`, async (context) => {
        running ??= start();
        const result = await (await running).check(rule);
        results.push(result);
        if (result.status === "failed") throw new Error(`${rule.id}: ${result.reason}`);
        if (result.status !== "passed") context.skip?.(result.reason);
      });
    }
    if (level === undefined) return;
    it(`conforms at level ${level}`, async () => {
      const reached = reachedLevel(results);
      const rank = (name: string): number => conformanceLevels.findIndex((each) => each === name);
      if (rank(reached.level) >= rank(level)) return;
      const missing = reached.missing.map(({ rule, reason }) => `${rule.id} (${reason})`).join("; ");
      throw new Error(`the level is ${reached.level}; missing: ${missing}`);
    });
  });
}
