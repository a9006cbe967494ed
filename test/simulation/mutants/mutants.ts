import { cacheMutants, writeMutants } from "./api-mutants.ts";
import { cloudMutants } from "./cloud-mutants.ts";
import { scheduleOf } from "../faults/profiles.ts";
import { simulate, type SimulationResult } from "../simulate.ts";
import type { Mutant } from "./mutant.ts";
import { processMutants } from "./process-mutants.ts";
import { requestMutants } from "./request-mutants.ts";

/** For so long after the faults a mistake may keep the world from rest before it counts as found, milliseconds: without mistakes, approved deletions take an hour. */
const SETTLE_MS = 2 * 3_600_000;

/** Runs a seed with a mistake. */
export const simulateMutant = ({ profile, alteration }: Mutant, seed: number): Promise<SimulationResult> =>
  simulate(scheduleOf(seed, profile), { alteration, settleMs: SETTLE_MS });

/** All mistakes, by name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  ...writeMutants,
  ...cacheMutants,
  ...cloudMutants,
  ...processMutants,
  ...requestMutants,
};
