import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { simulate } from "./simulate.ts";

const folder = join(import.meta.dirname, "regressions");

const regressionSchema = z.strictObject({
  /** What was wrong. */
  violation: z.string(),
  schedule: z.strictObject({
    seed: z.int(),
    profile: z.string(),
    replicas: z.int(),
    faults: z.array(z.strictObject({ atMs: z.number(), kind: z.string(), durationMs: z.number(), seed: z.number() })),
  }),
});

it.each(readdirSync(folder))("what %s found does not happen again", async (file) => {
  const { schedule } = regressionSchema.parse(JSON.parse(readFileSync(join(folder, file), "utf8")));
  const { violations, timeline } = await simulate(schedule);
  expect(violations, timeline.slice(-200).join("\n")).toEqual([]);
});
