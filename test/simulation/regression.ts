import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Schedule } from "./faults/profiles.ts";

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

/** A schedule that violated an invariant once. */
export interface Regression {
  readonly violation: string;
  readonly schedule: Schedule;
}

/** The files that `regressions.test.ts` replays. */
export const regressionFolder = join(import.meta.dirname, "regressions");

/** Reads a regression. Throws for a file that is none. */
export const readRegression = (file: string): Regression =>
  regressionSchema.parse(JSON.parse(readFileSync(file, "utf8")));

/** Keeps a regression in a file that is named for its seed, and returns the path. A file of the same seed is replaced. */
export function keepRegression(folder: string, { violation, schedule }: Regression): string {
  const file = join(folder, `${schedule.profile}-${schedule.seed}.json`);
  writeFileSync(file, `${JSON.stringify({ violation, schedule }, undefined, 2)}\n`);
  return file;
}
