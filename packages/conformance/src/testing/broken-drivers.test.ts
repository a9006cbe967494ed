import { systemClock } from "@millwright/base";
import { describe, expect, it } from "vitest";
import { createCheckRunner } from "../checks/run-check.ts";
import { contractRules } from "../rules/registry.ts";
import { openSession } from "../session/session.ts";
import { brokenCalls } from "./broken-calls.ts";
import { brokenCreations } from "./broken-creations.ts";
import { brokenDeclarations } from "./broken-declarations.ts";
import type { BrokenDriver } from "./broken-driver.ts";
import { brokenLookups } from "./broken-lookups.ts";
import { toyFixture } from "./toy-fixture.ts";

const brokenDrivers = [...brokenDeclarations, ...brokenCreations, ...brokenLookups, ...brokenCalls];

/** Checks that mostly wait, make thousands of calls, or read megabytes; they run against the drivers that violate them. */
const slowRules = new Set<string>([
  "calls.cancellation",
  "calls.deadline",
  "delete.success-means-gone",
  "errors.large-answer",
  "errors.retry-after",
  "list.fails-as-a-whole",
  "list.pages",
  "load.no-leaks",
  "load.random-faults",
]);

/** Rules about what all calls of a run answered: the other checks provoke it. */
const rulesAboutAllCalls = new Set<string>([
  "calls.replies-are-valid",
  "errors.are-machine-errors",
  "secrets.never-printed",
]);

/** Each driver is held against its own rules and every third of the others: all of them would take a minute of CPU more. */
const isDue = (ruleIndex: number, driverIndex: number): boolean => ruleIndex % 3 === driverIndex % 3;

/** The mandatory rules that a driver violates, with their reasons. */
async function violationsOf(
  { change, onCreate, violates }: BrokenDriver,
  driverIndex: number,
): Promise<ReadonlyMap<string, string>> {
  const session = await openSession({
    fixture: toyFixture(change(), onCreate),
    clock: systemClock,
    deadlineMs: 3_000,
    settleMs: 300,
    graceMs: 1_000,
  });
  const found = new Map<string, string>();
  const isRunWhole = violates.some((id) => rulesAboutAllCalls.has(id));
  try {
    const check = createCheckRunner(session);
    for (const [ruleIndex, rule] of contractRules.entries()) {
      const isOwn = violates.some((id) => id === rule.id);
      const isLeftOut = !rule.mandatory || slowRules.has(rule.id) || !(isRunWhole || isDue(ruleIndex, driverIndex));
      if (!isOwn && isLeftOut) continue;
      const { status, reason } = await check(rule);
      if (status === "failed") found.set(rule.id, reason);
    }
  } finally {
    await session.close();
  }
  return found;
}

describe("a driver that", () => {
  it.each(brokenDrivers.map((broken, index) => [broken.mistake, broken, index] as const))(
    "%s violates its rules only",
    async (_, broken, index) => {
      const found = await violationsOf(broken, index);
      // A driver that leaks violates the rule of the end of the run as well.
      const ids = [...found.keys()].filter((id) => id !== "run.nothing-left" || broken.violates[0] === id);
      expect(ids.toSorted(), [...found].join("\n")).toEqual([...broken.violates].toSorted());
    },
  );
});

it("has a broken driver for every mandatory rule", () => {
  const covered = new Set(brokenDrivers.map(({ violates: [first] }) => first));
  const mandatory = contractRules.filter((rule) => rule.mandatory).map(({ id }) => id);
  expect(mandatory.filter((id) => !covered.has(id))).toEqual([]);
});
