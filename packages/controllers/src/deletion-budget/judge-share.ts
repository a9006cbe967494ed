import type { BudgetRoom, DeletionScope } from "../model/deletion-budget.ts";

/** So many machines may always be deleted within an hour: in a small fleet each machine is a large share. */
export const MIN_LOSS = 10;

/** Whether deletions fit into the share of every scope. */
export type ShareVerdict =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly scope: DeletionScope; readonly limit: number };

/** How many machines of a scope may be lost within an hour. */
export const lossLimit = ({ inService, loss }: Pick<DeletionScope, "inService" | "loss">, share: number): number =>
  Math.max(MIN_LOSS, Math.floor(share * (inService + loss)));

/** Whether a share limits the deletions of a scope at all. */
export const isShared = (scope: Pick<DeletionScope, "share">, share: number): boolean => (scope.share ?? share) !== 0;

/** What the share leaves to a scope. */
export function roomOfShare(scope: DeletionScope, share: number): BudgetRoom {
  const { kind, name, loss } = scope;
  const limit = lossLimit(scope, scope.share ?? share);
  return { rule: "share", scope: { kind, name }, limit, remaining: Math.max(0, limit - loss) };
}

/**
 * May these machines be deleted now? A request is allowed as a whole or not at all: what remains of a deployment that was scaled down by mistake is of less use than all of it.
 *
 * @param request machines in service, by scope
 * @param share 0 to 1, of scopes without one of their own; 0 allows everything
 */
export function judgeShare(
  request: readonly { readonly scope: DeletionScope; readonly count: number }[],
  share: number,
): ShareVerdict {
  const exceeded = request.find(
    ({ scope, count }) =>
      count > 0 && isShared(scope, share) && scope.loss + count > lossLimit(scope, scope.share ?? share),
  );
  return exceeded === undefined
    ? { isAllowed: true }
    : { isAllowed: false, scope: exceeded.scope, limit: lossLimit(exceeded.scope, exceeded.scope.share ?? share) };
}
