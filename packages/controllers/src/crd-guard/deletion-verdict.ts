import type { DeletionVerdict } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";

/**
 * API servers stamp deletions with their own clocks, which may differ by this much, milliseconds. An object deleted even earlier than its CRD was not deleted because of it. Within this
 * time only a deletion that had started, or that we requested, is known to be an earlier one.
 */
const SKEW_MS = 60_000;

/** What is known of the deletion of an object. */
export interface Deletion {
  /** Wall clock of the API server, milliseconds. */
  readonly deletedAt: number;
  /** Whether the object's status shows a stage of the deletion. */
  readonly hasStarted: boolean;
  /** Whether this process requested it; lost on restart. */
  readonly isOwn: boolean;
}

/** A CRD that may be the cause of a deletion. */
export interface PossibleCause {
  readonly crd: CrdState;
  /** Whether it was established after the deletion was observed; lost on restart. */
  readonly isRuledOut: boolean;
}

const proceed: DeletionVerdict = { verdict: "proceed" };

function verdictOf({ crd, isRuledOut }: PossibleCause, { deletedAt, hasStarted, isOwn }: Deletion): DeletionVerdict {
  const paused: DeletionVerdict = { verdict: "paused", crd };
  if (crd.state === "unknown") return proceed;
  if (crd.state === "deleted") return hasStarted || isOwn || isRuledOut ? proceed : paused;
  if (crd.isDeletionAllowed) return proceed;
  // It dates from an earlier CRD of the same name, and was deleted with that.
  if (deletedAt < crd.createdAt && !hasStarted && !isOwn) return paused;
  if (isRuledOut) return proceed;
  if (crd.state === "established") return isOwn ? proceed : { verdict: "unknown" };
  if (deletedAt >= crd.deletedAt) return paused;
  const isEarlier = deletedAt < crd.deletedAt - SKEW_MS;
  return isEarlier || hasStarted || isOwn ? proceed : paused;
}

/**
 * Decides whether a deletion may be carried out. When a CRD is deleted, the API server deletes all objects of its kind, which hardly ever means that their VMs should be deleted. A
 * deletion is paused when it came together with that of a CRD, or after it: the CRD of the object's own kind, or of the kind that owns it, since Kubernetes garbage-collects what an owner
 * leaves.
 *
 * @param causes CRD of the object's kind first, then that of its owner's
 */
export function decideVerdict(deletion: Deletion, causes: readonly PossibleCause[]): DeletionVerdict {
  const verdicts = causes.map((cause) => verdictOf(cause, deletion));
  return (
    verdicts.find(({ verdict }) => verdict === "paused") ??
    verdicts.find(({ verdict }) => verdict === "unknown") ??
    proceed
  );
}
