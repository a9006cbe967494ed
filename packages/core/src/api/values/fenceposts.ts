/** A whole number, or a percentage of the replicas such as `25%`. */
export type IntOrPercent = number | string;

/** Greatest number of a 32-bit field. */
export const greatestInt32 = 2 ** 31 - 1;

/** A number or percentage that was understood. */
export type ParsedIntOrPercent =
  | { readonly unit: "count"; readonly amount: number }
  | { readonly unit: "percent"; readonly amount: number };

/**
 * Reads a number or percentage; undefined for anything else: a fraction, a text without `%`, a number outside 32 bits. A
 * text such as `5` is rejected as in MCM, which takes every text for a percentage. Negative ones are read, for a message.
 * Source: MCM, `pkg/apis/machine/validation`; MCM, `pkg/controller/deployment_util.go` ResolveFenceposts.
 */
export function parseIntOrPercent(value: IntOrPercent): ParsedIntOrPercent | undefined {
  if (typeof value === "number") return isInt32(value) ? { unit: "count", amount: value } : undefined;
  const digits = /^(-?\d{1,10})%$/.exec(value)?.[1];
  const amount = Number(digits);
  return digits !== undefined && isInt32(amount) ? { unit: "percent", amount } : undefined;
}

/**
 * Reads a limit as people write it into an annotation or a flag, where everything is a text: digits, or a percentage. Undefined for
 * what is neither, or negative.
 *
 * @example
 * readIntOrPercent("5"); // 5
 * readIntOrPercent("25%"); // "25%"
 */
export function readIntOrPercent(text: string): IntOrPercent | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : text;
  const parsed = parseIntOrPercent(value);
  return parsed === undefined || parsed.amount < 0 ? undefined : value;
}

/** The settings of a rollout that {@link resolveFenceposts} resolves. */
export interface Fenceposts {
  /** `spec.replicas` of the deployment. */
  readonly replicas: number;
  /** Default 0: the strategy has no surge. */
  readonly maxSurge?: IntOrPercent;
  /** Default 0. */
  readonly maxUnavailable?: IntOrPercent;
}

/** Fenceposts in machines. */
export interface ResolvedFenceposts {
  /** Machines that there may be beyond the replicas. */
  readonly maxSurge: number;
  /** Replicas that may be unavailable; never more than there are. */
  readonly maxUnavailable: number;
}

/**
 * The fenceposts of a rollout in machines: surge is rounded up, unavailable is rounded down and never more than the replicas.
 * When both come out as 0, unavailable is 1, or nothing could ever move. What does not parse or is negative counts as 0:
 * validation has rejected it before. Source: MCM, `pkg/controller/deployment_util.go` ResolveFenceposts.
 *
 * @example
 * resolveFenceposts({ replicas: 2, maxSurge: "1%", maxUnavailable: "25%" }); // { maxSurge: 1, maxUnavailable: 0 }
 */
export function resolveFenceposts({ replicas, maxSurge = 0, maxUnavailable = 0 }: Fenceposts): ResolvedFenceposts {
  const surge = inMachines(maxSurge, replicas, Math.ceil);
  const unavailable = inMachines(maxUnavailable, replicas, Math.floor);
  const either = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { maxSurge: surge, maxUnavailable: Math.min(either, Math.max(0, replicas)) };
}

function inMachines(value: IntOrPercent, replicas: number, round: (machines: number) => number): number {
  const parsed = parseIntOrPercent(value);
  if (!parsed || parsed.amount <= 0) return 0;
  const machines = parsed.unit === "count" ? parsed.amount : round((parsed.amount * Math.max(0, replicas)) / 100);
  return Math.min(machines, greatestInt32);
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= greatestInt32;
}
