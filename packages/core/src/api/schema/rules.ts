import type { ValidationRule } from "./structural-schema.ts";

/*
 * Rules of the CustomResourceDefinitions, in the Common Expression Language: what `validate*` rejects and one field shows is rejected by the API server first, in the same request.
 *
 * A rule is at the smallest part of the object that shows the fault, and never at its root: an object that was stored before the rule keeps what it has, since the API server does not
 * check a part that an update leaves as it is (Kubernetes 1.30, "Validation ratcheting"), and the root changes with each finalizer.
 * Lists without a maximum length, such as taints, have no rules for their items: the API server refuses a definition whose rules could take too long.
 */

/** Of a whole number. */
export const atLeastZero: ValidationRule = { rule: "self >= 0", message: "must be zero or more" };

/** Of a text that MCM parses as a Go duration: one that it cannot read ends its watch of the kind. */
export const isGoDuration: ValidationRule = {
  rule: String.raw`self.matches('^(0|([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$')`,
  message: "must be a Go duration of zero or more, such as 20m or 1h30m",
};

/** Of a whole number or percentage. */
export const isAmountOrPercent: ValidationRule = {
  rule: "type(self) == int ? self >= 0 : self.matches('^[0-9]{1,10}%$')",
  message: 'must be a whole number or a percentage of zero or more, such as 1 or "25%"',
};

/** Of the settings of a rollout. */
export const leavesRoom: ValidationRule = {
  rule: "!has(self.maxSurge) || !has(self.maxUnavailable) || !(string(self.maxSurge) in ['0', '0%'] && string(self.maxUnavailable) in ['0', '0%'])",
  message: "must not have 0 for both maxSurge and maxUnavailable: no machine could ever be replaced",
};

/** Of a text that must be one of a few; empty stands for the default. */
export const isOneOf = (values: readonly string[]): ValidationRule => ({
  rule: `self in [${["", ...values].map((value) => `'${value}'`).join(", ")}]`,
  message: `must be one of ${values.join(", ")}`,
});

/** Of the strategy of a deployment. */
export const namesOrchestration: ValidationRule = {
  rule: "!has(self.type) || self.type != 'InPlaceUpdate' || (has(self.inPlaceUpdate) && has(self.inPlaceUpdate.orchestrationType) && self.inPlaceUpdate.orchestrationType in ['Auto', 'Manual'])",
  message: "inPlaceUpdate.orchestrationType must be Auto or Manual",
};

/** Of the spec of a set or deployment. */
export const selectsSomething: ValidationRule = {
  rule: "has(self.selector) && ((has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0) || (has(self.selector.matchExpressions) && size(self.selector.matchExpressions) > 0))",
  message: "selector must not be empty: it would select every machine of the namespace",
};

/** Of the reference of a machine to its class. */
export const namesClass: readonly ValidationRule[] = [
  { rule: "has(self.kind) && self.kind == 'MachineClass'", message: "kind must be MachineClass" },
  { rule: "has(self.name) && size(self.name) > 0", message: "name must be that of a MachineClass" },
];

/** Of a text that may not be empty. */
export const notEmpty: ValidationRule = { rule: "size(self) > 0", message: "must not be empty" };
