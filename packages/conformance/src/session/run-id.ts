import type { Clock, Random } from "@millwright/base";

const prefix = "mwc";
const pattern = /^mwc-([0-9a-z]{6,8})-([a-z0-9]{4})(?:-|$)/;

/** Names of the machines of one run. They begin with {@link prefixOf}, so that a later run finds what this one left. */
export interface RunId {
  /** Start of all names: `mwc-TIME-RANDOM`, the time in seconds since 1970 in base 36. */
  readonly prefix: string;
}

/** A new id. */
export function createRunId(clock: Clock, random: Random): RunId {
  const seconds = Math.floor(clock.now().getTime() / 1_000).toString(36);
  const suffix = random.hex(2);
  return { prefix: `${prefix}-${seconds}-${suffix}` };
}

/** When the run of a machine name started, milliseconds since 1970; undefined for other names. */
export function runStartOf(machineName: string): number | undefined {
  const [, seconds] = pattern.exec(machineName) ?? [];
  return seconds === undefined ? undefined : Number.parseInt(seconds, 36) * 1_000;
}
