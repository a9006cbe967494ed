import type { Machine } from "@millwright/core";
import type { DeletionCause, HeldDeletions, SetBudget } from "../model/deletion-budget.ts";
import { hasId } from "../model/provisioning.ts";
import { judgeShare } from "./judge-share.ts";

/** A machine that a set deletes, and why. */
export interface SetDeletion {
  readonly machine: Machine;
  readonly cause: DeletionCause;
}

/** What a set may delete now. */
export interface AllowedDeletions {
  readonly allowed: readonly SetDeletion[];
  readonly held?: HeldDeletions;
  /** When a rate allows more, milliseconds. */
  readonly moreInMs?: number;
}

/** Deletions by choice. Any other names its machine, or replaces one that does not serve. */
const isByChoice = ({ cause }: SetDeletion): boolean => cause === "scale-down" || cause === "rollout";

/** Deletions that fit into the share: all by choice, or none of them. */
function withinShare(deletions: readonly SetDeletion[], budget: SetBudget): AllowedDeletions {
  const { counted } = budget;
  const isJudged = (deletion: SetDeletion): boolean =>
    isByChoice(deletion) && counted.has(deletion.machine.metadata.uid ?? "");
  const judged = deletions.filter(isJudged);
  const [first] = judged;
  const request = budget.scopes.map((scope) => ({ scope, count: judged.length }));
  const verdict = judgeShare(request, budget.share);
  if (verdict.isAllowed || first === undefined) return { allowed: deletions };
  const { kind, name, inService, loss } = verdict.scope;
  return {
    allowed: deletions.filter((deletion) => !isJudged(deletion)),
    held: {
      why: "share",
      cause: first.cause,
      count: judged.length,
      scope: { kind, name },
      limit: verdict.limit,
      total: inService + loss,
      loss,
    },
  };
}

/** May a set delete these machines now? The rate allows as many of them as it has room for, in their order. */
export function allowDeletions(deletions: readonly SetDeletion[], budget: SetBudget): AllowedDeletions {
  if (budget.isApproved || deletions.length === 0) return { allowed: deletions };
  const shared = withinShare(deletions, budget);
  const { count: room, scope, limit, moreInMs } = budget.rate;
  let left = room;
  const allowed = shared.allowed.filter(({ machine }) => !hasId(machine) || left-- > 0);
  const count = shared.allowed.length - allowed.length;
  const [first] = shared.allowed;
  if (count === 0 || first === undefined) return shared;
  const overRate: HeldDeletions = {
    why: "rate",
    cause: first.cause,
    count,
    scope,
    limit,
    total: limit,
    loss: limit - room,
  };
  return { allowed, held: shared.held ?? overRate, moreInMs };
}
