import type { RuleId } from "../rules/registry.ts";

/** Violations of rules that hold for every call, collected while other rules are checked. */
export interface Violations {
  /** Adds a sentence; equal ones count once, and the first ten of a rule are kept. */
  add(rule: RuleId, sentence: string): void;
  of(rule: RuleId): readonly string[];
}

const keptPerRule = 10;

/** An empty collection. */
export function createViolations(): Violations {
  const byRule = new Map<RuleId, Set<string>>();
  return {
    add(rule, sentence) {
      const known = byRule.get(rule) ?? new Set();
      if (known.size < keptPerRule) known.add(sentence);
      byRule.set(rule, known);
    },
    of: (rule) => [...(byRule.get(rule) ?? [])],
  };
}
