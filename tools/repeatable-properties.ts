import { configureGlobal } from "fast-check";

/** Any number: properties that hold for these cases hold for them on every computer. */
const USUAL_SEED = 20_261_121;

/**
 * Set-up of the projects with property tests: every run checks the same cases, so that a failure is caused by a change.
 * `PROPERTY_SEED=random` checks other cases, and a number those of that seed, which fast-check prints when a property fails.
 */
const given = process.env["PROPERTY_SEED"] ?? USUAL_SEED;
configureGlobal(given === "random" ? {} : { seed: Number(given) });
