import { type MachineDeployment, type MachineSet, surgeOf } from "@millwright/core/machine-api";

/** How far from the expected number of machines the protection starts, and ends. */
export interface OvershootMargins {
  /** Machines beyond replicas and surge at which a set is frozen. MCM's flag `--safety-up`. */
  readonly up: number;
  /** Machines below that at which it is unfrozen. MCM's flag `--safety-down`. */
  readonly down: number;
}

/** MCM's defaults. */
export const defaultOvershootMargins: OvershootMargins = { up: 2, down: 1 };

/** Numbers of machines of one set. */
export interface OvershootLimits {
  /** The maximum: none is created beyond it, and a set that reaches it is frozen. */
  readonly upper: number;
  /** A frozen set with so many, or fewer, is unfrozen. */
  readonly lower: number;
}

/**
 * How many machines a set may have (MCM, `pkg/controller/machine_safety.go`): those of its deployment with their surge, or twice its own, and the margin.
 * A strategy without surge adds none.
 *
 * @param deployment the one that controls the set, with defaults, as far as there is one and its spec is valid
 */
export function overshootLimits(
  set: MachineSet,
  deployment: MachineDeployment | undefined,
  margins: OvershootMargins,
): OvershootLimits {
  const replicas = deployment?.spec.replicas ?? 0;
  const expected = deployment === undefined ? 2 * (set.spec.replicas ?? 0) : replicas + surgeOf(deployment, replicas);
  const upper = expected + margins.up;
  // Without machines there is nothing to protect from, whatever the margin.
  return { upper, lower: Math.max(0, upper - margins.down) };
}
