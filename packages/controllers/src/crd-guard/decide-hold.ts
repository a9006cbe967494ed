import type { Hold } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";

/**
 * API servers stamp deletions with their own clocks, which may differ by this much, milliseconds. What was deleted even earlier than its definition was not deleted because of it. Within
 * this time only a deletion that had begun, or that we asked for, is known to be an earlier one.
 */
const SKEW_MS = 60_000;

/** What is known of the deletion of an object. */
export interface Deletion {
  /** Wall clock of the API server, milliseconds. */
  readonly deletedAt: number;
  /** Whether the object's status says that it is being taken apart. */
  readonly hasBegun: boolean;
  /** Whether this process asked for it; lost with the process. */
  readonly isAsked: boolean;
}

/** A definition that may be the cause of a deletion. */
export interface Suspect {
  readonly definition: CrdState;
  /** Whether it was seen to stand after the deletion was seen; lost with the process. */
  readonly isCleared: boolean;
}

const goes: Hold = { verdict: "goes" };

function holdBy({ definition, isCleared }: Suspect, { deletedAt, hasBegun, isAsked }: Deletion): Hold {
  const held: Hold = { verdict: "held", definition };
  if (definition.state === "unguarded") return goes;
  if (definition.state === "gone") return hasBegun || isAsked || isCleared ? goes : held;
  if (definition.isMeant) return goes;
  // It comes from an earlier definition, which was taken away under it.
  if (deletedAt < definition.createdAt && !hasBegun && !isAsked) return held;
  if (isCleared) return goes;
  if (definition.state === "standing") return isAsked ? goes : { verdict: "ask" };
  if (deletedAt >= definition.deletedAt) return held;
  const isEarly = deletedAt < definition.deletedAt - SKEW_MS;
  return isEarly || hasBegun || isAsked ? goes : held;
}

/**
 * Decides whether a deletion may be carried out. When somebody deletes the definition of a kind, the API server deletes all its objects, and nobody meant their VMs. A deletion is
 * held when it came together with that of such a definition, or after it: of the definition of the object's own kind, or of the kind that owns it, since Kubernetes deletes what an
 * owner leaves behind.
 *
 * @param suspects definition of the object's kind first, then that of its owner's
 */
export function decideHold(deletion: Deletion, suspects: readonly Suspect[]): Hold {
  const holds = suspects.map((suspect) => holdBy(suspect, deletion));
  return holds.find(({ verdict }) => verdict === "held") ?? holds.find(({ verdict }) => verdict === "ask") ?? goes;
}
