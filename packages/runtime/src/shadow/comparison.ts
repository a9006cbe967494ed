import { actionKey, type IntendedAction, isRecordOnly } from "./intended-action.ts";

/** An intended action, and since when it is due. */
export interface DueAction extends IntendedAction {
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** An object that another client created. */
export interface CreatedObject {
  readonly kind: string;
  readonly namespace: string;
  /** The controller of the object. */
  readonly owner?: { readonly kind: string; readonly name: string } | undefined;
}

/** How the decisions of this process compare with what the other manager does. */
export interface ShadowReport {
  /** Intended, and not done for less than the grace period. */
  readonly due: readonly DueAction[];
  /** Intended, and not done for the grace period or longer; the oldest first. */
  readonly differences: readonly DueAction[];
}

/** How an intended action ended: the cluster needed it no more within the grace period, or after it. */
export type ComparisonOutcome = "confirmed" | "late";

/** Options of {@link createComparison}, in milliseconds. */
export interface ComparisonOptions {
  /** How long the other manager may take. */
  readonly graceMs: number;
  /** An action that no reconcile intended for so long is not due any more. Every object is reconciled more often than that. */
  readonly forgetMs: number;
  /** Is notified of each end. Must not throw. */
  readonly onOutcome?: (outcome: ComparisonOutcome, action: Pick<IntendedAction, "action" | "kind">) => void;
  /** Is notified when an action becomes a difference, and when it ends. */
  readonly onDifference?: (state: "begun" | "ended", action: DueAction) => void;
}

/**
 * Compares intended actions with the state of the cluster. An action is due for as long as each reconcile decides on it again, and is a difference once it
 * is due, unchanged, for the grace period. What the other manager does is not judged by itself: it may act before the first reconcile that would intend it.
 */
export interface Comparison {
  /** A reconcile intends an action. */
  intended(action: IntendedAction, now: number): void;
  /** Another client created an object. Created objects have random names: one more of an owner may be due after it, from then on. */
  created(object: CreatedObject): void;
  /** Ends what is not due any more, and finds new differences. */
  sweep(now: number): void;
  report(now: number): ShadowReport;
}

interface Entry {
  readonly action: IntendedAction;
  readonly since: number;
  lastAt: number;
  isDifference: boolean;
}

/** Makes a {@link Comparison} that has seen nothing. */
export function createComparison({ graceMs, forgetMs, onOutcome, onDifference }: ComparisonOptions): Comparison {
  const entries = new Map<string, Entry>();

  const due = ({ action, since }: Entry): DueAction => ({ ...action, since });
  const end = (key: string, entry: Entry): void => {
    entries.delete(key);
    onOutcome?.(entry.isDifference ? "late" : "confirmed", entry.action);
    if (entry.isDifference) onDifference?.("ended", due(entry));
  };
  const judge = (entry: Entry): void => {
    if (entry.isDifference || entry.lastAt - entry.since < graceMs) return;
    entry.isDifference = true;
    onDifference?.("begun", due(entry));
  };
  const sweep = (now: number): void => {
    for (const [key, entry] of entries) {
      if (now - entry.lastAt > forgetMs) end(key, entry);
      else judge(entry);
    }
  };

  return {
    intended(action, now) {
      const key = actionKey(action);
      const entry = entries.get(key);
      if (entry === undefined) {
        entries.set(key, { action, since: now, lastAt: now, isDifference: false });
        return;
      }
      entry.lastAt = now;
      judge(entry);
    },
    created({ kind, namespace, owner }) {
      if (owner === undefined) return;
      const key = actionKey({ action: "Create", kind, subject: { ...owner, namespace }, detail: "" });
      const entry = entries.get(key);
      if (entry !== undefined) end(key, entry);
    },
    sweep,
    report(now) {
      sweep(now);
      const all = [...entries.values()].toSorted((a, b) => a.since - b.since);
      const ofState = (isDifference: boolean): readonly DueAction[] =>
        all.filter((entry) => entry.isDifference === isDifference).map(due);
      return { due: ofState(false), differences: ofState(true) };
    },
  };
}

/** How many of some actions concern machines, and how many only what is recorded about them. */
export function countActions(actions: readonly IntendedAction[]): {
  readonly machines: number;
  readonly records: number;
} {
  const records = actions.filter(isRecordOnly).length;
  return { machines: actions.length - records, records };
}
