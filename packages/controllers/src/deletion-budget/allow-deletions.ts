import type { Machine } from "@millwright/core/machine-api";
import type { ApprovedWork, DeletionCause, HeldDeletions, SetBudget } from "../model/deletion-budget.ts";
import { hasId } from "../model/provisioning.ts";
import { judgeShare } from "./judge-share.ts";

/** A machine that a set deletes, and why. */
export interface SetDeletion {
  readonly machine: Machine;
  readonly cause: DeletionCause;
  /** Whether it is approved, and uses no budget. Default: not. */
  readonly isApproved?: true;
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

const asApproved = (deletion: SetDeletion): SetDeletion => ({ ...deletion, isApproved: true });

/** The approval, if it covers all of these. */
function approvalFor(deletions: readonly SetDeletion[], { approved }: SetBudget): ApprovedWork | undefined {
  return approved?.work === "deletions" && deletions.length <= approved.left ? approved : undefined;
}

/** What waits for others that the same approval covers. */
function heldByPace(
  waiting: readonly SetDeletion[],
  { by, kind, atATime = 0 }: ApprovedWork,
): HeldDeletions | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const scope = { kind, name: by.metadata.name };
  return { why: "pace", cause: first.cause, count: waiting.length, scope, limit: atATime, total: atATime, loss: 0 };
}

/** Deletions that the share allows, or an approval: all by choice, or none of them; and of approved ones those for which it is time. */
function withinShare(deletions: readonly SetDeletion[], budget: SetBudget): AllowedDeletions {
  const { counted } = budget;
  const isJudged = (deletion: SetDeletion): boolean =>
    isByChoice(deletion) && counted.has(deletion.machine.metadata.uid ?? "");
  const judged = deletions.filter(isJudged);
  const [first] = judged;
  if (first === undefined) return { allowed: deletions };
  const others = deletions.filter((deletion) => !isJudged(deletion));
  const approval = approvalFor(judged, budget);
  if (approval !== undefined) {
    const held = heldByPace(judged.slice(approval.room), approval);
    const allowed = [...judged.slice(0, approval.room).map(asApproved), ...others];
    return held === undefined ? { allowed } : { allowed, held };
  }
  const request = budget.scopes.map((scope) => ({ scope, count: judged.length }));
  const verdict = judgeShare(request, budget.share);
  if (verdict.isAllowed) return { allowed: deletions };
  const { kind, name, inService, loss } = verdict.scope;
  return {
    allowed: others,
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
  if (deletions.length === 0) return { allowed: deletions };
  if (budget.isApproved) return { allowed: deletions.map(asApproved) };
  const shared = withinShare(deletions, budget);
  const { count: room, scope, limit, moreInMs } = budget.rate;
  let left = room;
  const isInRate = ({ machine, isApproved }: SetDeletion): boolean =>
    isApproved === true || !hasId(machine) || left-- > 0;
  const byRate = Map.groupBy(shared.allowed, isInRate);
  const over = byRate.get(false) ?? [];
  const [first] = over;
  if (first === undefined) return shared;
  const allowed = byRate.get(true) ?? [];
  const approval = approvalFor([...allowed.filter(({ isApproved }) => isApproved), ...over], budget);
  if (approval !== undefined) return { ...shared, allowed: [...allowed, ...over.map(asApproved)] };
  const overRate: HeldDeletions = {
    why: "rate",
    cause: first.cause,
    count: over.length,
    scope,
    limit,
    total: limit,
    loss: limit - room,
  };
  return { allowed, held: shared.held ?? overRate, moreInMs };
}
