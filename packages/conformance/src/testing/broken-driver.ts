import type { Driver } from "@millwright/core";
import type { RuleId } from "../rules/registry.ts";
import type { ToyChange } from "./toy-driver.ts";
import type { ToySpec } from "./toy-steps.ts";

/** A driver of the toy cloud with one mistake. */
export interface BrokenDriver {
  /** The mistake, as the end of the sentence "A driver that …". */
  readonly mistake: string;
  /** The rules that it violates, and no others. The first is the one that it was written for. */
  readonly violates: readonly [RuleId, ...RuleId[]];
  /** Makes the change of the right driver; called once for a run, so that instances may share a state. */
  readonly change: () => ToyChange;
  /** Called for each instance that is created as after a restart. */
  readonly onCreate?: (driver: Driver<ToySpec>, url: string) => void;
}

/** A driver whose schema returns something else. */
export const withSchema = (
  validate: (right: Driver<ToySpec>, value: unknown) => ReturnType<Driver<ToySpec>["spec"]["~standard"]["validate"]>,
): ToyChange => ({
  methods: (right) => ({
    spec: { "~standard": { ...right.spec["~standard"], validate: (value) => validate(right, value) } },
  }),
});
