import { cacheMutants, writeMutants } from "./api-mutants.ts";
import { cloudMutants } from "./cloud-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { processMutants } from "./process-mutants.ts";

/** All mistakes, by name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  ...writeMutants,
  ...cacheMutants,
  ...cloudMutants,
  ...processMutants,
};
