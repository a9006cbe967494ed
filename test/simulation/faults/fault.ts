import type { Choices } from "../world/streams.ts";
import type { World } from "../world/world.ts";

/** What a fault has to work with. */
export interface FaultStage {
  readonly world: World;
  /** Random choices of this fault alone: they are the same whatever other faults there are. */
  readonly choices: Choices;
  /** How long the fault lasts, milliseconds. */
  readonly durationMs: number;
}

/** A kind of fault. */
export interface FaultKind {
  /** How long it lasts at most, milliseconds; a duration is drawn up to it. 0: it happens at once and is over. */
  readonly maxMs: number;
  /** Lets it happen. Returns what happened, for the timeline, and what ends it. */
  readonly begin: (stage: FaultStage) => FaultOutcome | Promise<FaultOutcome>;
}

/** What a fault did; a text alone where nothing has to end. */
export type FaultOutcome = string | { readonly what: string; readonly end: () => void };

/** A fault of a schedule: plain data, which a file can hold. */
export interface ScheduledFault {
  readonly atMs: number;
  readonly kind: string;
  readonly durationMs: number;
  /** Of its own choices. */
  readonly seed: number;
}
