import { configureGlobal } from "fast-check";

/** Any number: properties that hold for these cases hold for them on every computer. */
const USUAL_SEED = 20_261_121;

/**
 * Set-up of the projects with property tests: every run tries the same cases, so that a run that fails says something about the change before it.
 * `PROPERTY_SEED=random` tries others, and a number those of that seed, which fast-check names when a property fails.
 */
const given = process.env["PROPERTY_SEED"] ?? USUAL_SEED;
configureGlobal(given === "random" ? {} : { seed: Number(given) });
