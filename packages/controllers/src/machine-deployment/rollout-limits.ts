/** Bounds from outside that a rollout keeps to besides surge and unavailability: canary steps, maintenance windows, replacement on deletion only. */
export interface RolloutLimits {
  /** Machines that the new set may have for now; the old sets keep the rest. Absent: all. What it has already is not taken back. */
  readonly maxNew?: number;
  /** Whether a next step may be taken at all. A new set is made anyway, with no machines, for others wait to see it. */
  readonly mayStart: boolean;
  /** When the limits are due to change by themselves. Absent: only with the objects that they were computed from. */
  readonly wakeAt?: Date;
}

/** A rollout that only surge and unavailability hold back. */
export const unlimited: RolloutLimits = { mayStart: true };
