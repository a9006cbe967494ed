import {
  annotationKeys,
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionProtectedReasons,
  deletionsHeldConditionType,
  eventReasons,
  legacyConditionTypes,
  type MachineSet,
  trueLabel,
  writeRefusedConditionType,
} from "@millwright/core/machine-api";
import {
  type Condition,
  type ConditionState,
  findCondition,
  removeCondition,
  setCondition,
  type SetConditionOptions,
} from "@millwright/kube";
import type { Reason } from "./decision.ts";
import { restoreCommand } from "./held-deletion.ts";
import type { Hold } from "./hold.ts";

/** A set or a deployment, for messages and commands. */
export interface OwnerIdentity {
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly name: string;
  readonly namespace: string;
  /** The deployment of a set. */
  readonly deployment?: string | undefined;
}

/** What a user can do about a condition: a sentence, and command lines that show more, or do it. */
export type ConditionRemedy = readonly [text: string, ...commands: readonly string[]];

/** A condition of sets and deployments that shows a hold. */
export interface HoldCondition {
  /** The guard, or the rule, that holds. */
  readonly by: string;
  readonly holds: Hold["holds"];
  readonly type: string;
  /** The status while something is held; otherwise the condition is absent. */
  readonly status: "True" | "False";
  /** How other conditions mention the hold. Absent: none does. */
  readonly mention?: RegExp;
  remedyOf(condition: Condition, owner: OwnerIdentity): ConditionRemedy;
}

/** The argument of kubectl for the object that a user changes: the deployment, or a set without one. */
export const ownerArgument = ({ kind, name, deployment }: OwnerIdentity): string =>
  deployment === undefined ? `${kind.toLowerCase()} ${name}` : `machinedeployment ${deployment}`;

/** What a user does about a write that the API server refuses, and that events with this reason report. */
export const refusedWriteRemedy = (namespace: string, reason: string = eventReasons.writeRefused): ConditionRemedy => [
  "Change the webhook, policy, quota or role that refuses the write; the next attempt follows within five minutes.",
  `kubectl get events -n ${namespace} --field-selector reason=${reason}`,
  "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies",
];

/** All conditions that show a hold, the most important first. Readers print their messages. */
export const holdConditions: readonly HoldCondition[] = [
  {
    by: "crd",
    holds: "everything",
    type: crdsEstablishedConditionType,
    status: "False",
    remedyOf: () => [
      "Restore the CustomResourceDefinition and the objects, or allow their deletion.",
      "millwright crds diff",
    ],
  },
  {
    by: "refused-write",
    holds: "everything",
    type: writeRefusedConditionType,
    status: "True",
    remedyOf: (_, { namespace }) => refusedWriteRemedy(namespace),
  },
  {
    by: "freeze",
    holds: "creation",
    type: legacyConditionTypes.frozen,
    status: "True",
    mention: /\bis frozen\b/,
    remedyOf: (_, owner) => [
      "Find out what created or deleted the machines, then unfreeze.",
      `kubectl get events -n ${owner.namespace}`,
      `kubectl annotate ${ownerArgument(owner)} ${annotationKeys.unfreeze}=${trueLabel} -n ${owner.namespace}`,
    ],
  },
  {
    by: "budget",
    holds: "deletion",
    type: deletionsHeldConditionType,
    status: "True",
    remedyOf: ({ message = "" }, { kind, name, namespace, deployment }) => {
      const object =
        deployment === undefined && kind === "MachineSet" ? `set ${name}` : `deployment ${deployment ?? name}`;
      const command = `millwright approve ${object} -n ${namespace}`;
      if (message.includes(restoreCommand))
        return [
          "Restore the machines to keep their VMs, or approve the deletions.",
          `${restoreCommand} -n ${namespace}`,
          command,
        ];
      return [
        "Approve the deletions, all at once or three at a time, or undo the change that requires them.",
        command,
        `${command} --at-a-time 3`,
      ];
    },
  },
  {
    by: "protection",
    holds: "deletion",
    type: deletionProtectedConditionType,
    status: "True",
    remedyOf: ({ reason }, owner) =>
      reason === deletionProtectedReasons.objectProtected
        ? [
            "The deletion cannot be taken back. To go on with it, remove the annotation.",
            `kubectl annotate ${ownerArgument(owner)} ${annotationKeys.deletionProtection}- -n ${owner.namespace}`,
          ]
        : [
            `To have the machines deleted that the condition names, remove their annotation ${annotationKeys.deletionProtection}.`,
            `kubectl get machines -n ${owner.namespace}`,
          ],
  },
];

/** The condition of an object that shows this hold; `undefined` while nothing is held. */
export function shownHold(
  conditions: readonly Condition[] | undefined,
  { type, status }: Pick<HoldCondition, "type" | "status">,
): Condition | undefined {
  const found = findCondition(conditions, type);
  return found?.status === status ? found : undefined;
}

/**
 * The conditions with those of the holds, and without those of all others.
 *
 * @param unknown types whose hold was not judged: they stay as they are. Default: none
 */
export const withHolds = (
  before: readonly Condition[],
  states: readonly (ConditionState | undefined)[],
  options: SetConditionOptions,
  unknown: readonly string[] = [],
): readonly Condition[] =>
  holdConditions.reduce((conditions, { type }) => {
    if (unknown.includes(type)) return conditions;
    const state = states.find((each) => each?.type === type);
    return state === undefined ? removeCondition(conditions, type) : setCondition(conditions, state, options);
  }, before);

/** What a deployment shows of its sets: of each hold the condition of the first set that has it. A CRD holds the deployment itself. */
export const holdsOfSets = (sets: readonly MachineSet[]): readonly ConditionState[] =>
  holdConditions.flatMap((condition) => {
    if (condition.by === "crd") return [];
    const found = sets
      .map(({ status }) => shownHold(status?.machineSetCondition, condition))
      .find((each) => each !== undefined);
    if (found === undefined) return [];
    const { type, status } = condition;
    return [{ type, status, reason: found.reason ?? "", message: found.message ?? "" }];
  });

/** The condition that shows a hold. */
export const stateOfHold = (hold: Hold | undefined): ConditionState | undefined =>
  hold?.condition && { ...hold.condition, message: hold.message };

/** The event of a hold, unless its condition was there before with this message. */
export const eventsOfHold = (before: readonly Condition[] | undefined, hold: Hold | undefined): readonly Reason[] =>
  hold?.condition === undefined ||
  hold.event === undefined ||
  findCondition(before, hold.condition.type)?.message === hold.message
    ? []
    : [{ ...hold.event, message: hold.message }];

/** How an object of which everything is held shows it: in one condition, while the others stay as they were, and once in an event. */
export function reportHold(
  before: readonly Condition[],
  hold: Hold,
  options: SetConditionOptions,
): { readonly conditions: readonly Condition[]; readonly because: readonly Reason[] } {
  const state = stateOfHold(hold);
  return {
    conditions: state === undefined ? before : setCondition(before, state, options),
    because: eventsOfHold(before, hold),
  };
}
