import { createApiServer } from "@millwright/devcluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRealServer } from "./real-server.ts";
import { type ComparedStep, compareServers, describeStep } from "./compare-servers.ts";
import { knownDifferences } from "./known-differences.ts";
import { allSteps } from "./request-script.ts";
import { subjects } from "./subjects/index.ts";
import type { Target } from "./target.ts";

/** All subjects run one after another on both servers. */
const SUBJECT_LIMIT_MS = 180_000;

let real: Target;
let ours: Target;
const ends: (() => Promise<void>)[] = [];
const seen = new Set<string>();
const count = { checks: 0, equal: 0, listed: 0 };

beforeAll(async () => {
  const plane = await startRealServer();
  ends.push(() => plane.stop());
  const server = createApiServer({ authorization: "RBAC" });
  ends.push(() => server.close());
  real = plane;
  ours = await server.listen();
}, SUBJECT_LIMIT_MS);

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  console.log(`compat: ${count.checks} request checks, ${count.equal} equal, ${count.listed} with listed differences`);
}, 60_000);

describe.each(subjects)("$name", (subject) => {
  let compared: ReadonlyMap<string, ComparedStep>;

  beforeAll(async () => {
    const steps = await compareServers(subject, real, ours, knownDifferences);
    compared = new Map(steps.map((step) => [step.name, step]));
  }, SUBJECT_LIMIT_MS);

  test.each(allSteps(subject.steps).map(({ name }) => name))("%s", (name) => {
    const step = compared.get(name);
    if (step === undefined) throw new Error(`"${name}" has not been run`);
    count.checks += 1;
    if (step.unlisted.length === 0) {
      if (step.listed.length === 0) count.equal += 1;
      else count.listed += 1;
    }
    for (const id of step.listed) seen.add(id);
    expect.soft(describeStep(step)).toBe("");
  });
});

test.each(knownDifferences.filter(({ isFlaky }) => isFlaky !== true).map(({ id }) => id))(
  "the listed difference %s still exists",
  (id) => {
    expect([...seen]).toContain(id);
  },
);

test("at least 300 requests are checked", () => {
  expect(count.checks).toBeGreaterThanOrEqual(300);
});
