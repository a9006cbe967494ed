/**
 * Time, chance, the error for people, JSON objects from outside, and work that may be left alone: what every program needs and no schema.
 * `@millwright/core/foundation` is for those that know no machines, and for threads of their own: all of core takes 5 MiB more in each, zod and
 * the schemas of the Machine API.
 */
export { systemClock } from "./clock.ts";
export type { Clock, Timer } from "./clock.ts";
export { ConfigError, isConfigError } from "./config-error.ts";
export { isRecord } from "./is-record.ts";
export { orAborted } from "./or-aborted.ts";
export { seededRandom, systemRandom } from "./random.ts";
export type { Random } from "./random.ts";
