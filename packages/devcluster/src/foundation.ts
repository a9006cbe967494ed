/** Time, chance and errors for people come from `core`; this module is the one place that says so. */
export type { Clock, Random, Timer } from "@millwright/core";
export { ConfigError, systemClock, systemRandom } from "@millwright/core";
