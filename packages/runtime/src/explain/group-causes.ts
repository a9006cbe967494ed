import {
  annotationKeys,
  clusterApiConditionTypes as types,
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionProtectedReasons,
  deletionsHeldConditionType,
  legacyConditionTypes,
  specValidConditionType,
  trueLabel,
} from "@millwright/core";
import type { Condition } from "@millwright/kube";
import type { Cause, Explanation, Remedy } from "./explanation.ts";
import { flatten } from "./explanation.ts";

/** A set or deployment, for messages and commands. */
export interface GroupIdentity {
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly name: string;
  readonly namespace: string;
  /** The deployment of a set. */
  readonly deployment?: string | undefined;
}

/** Conditions that are a cause by themselves, with the status in which they are, the most important first. */
const blocking: readonly (readonly [type: string, status: string])[] = [
  [crdsEstablishedConditionType, "False"],
  [specValidConditionType, "False"],
  [legacyConditionTypes.frozen, "True"],
  [deletionsHeldConditionType, "True"],
  [deletionProtectedConditionType, "True"],
  [types.paused, "True"],
  [legacyConditionTypes.replicaFailure, "True"],
];

/** Conditions that show progress, whose messages list what blocks it. */
const progressing: readonly string[] = [types.rollingOut, types.scalingUp, types.scalingDown, types.remediating];

/** Words by which another condition repeats one of {@link blocking}. */
const repeats: Readonly<Record<string, RegExp>> = {
  [types.paused]: /^Rollout is paused$/,
  [legacyConditionTypes.frozen]: /\bis frozen\b/,
  [specValidConditionType]: /spec is not valid/,
};

const causeOf = ({ type, reason, message = "", lastTransitionTime: since }: Condition, text = message): Cause => ({
  reason: type === reason || reason === undefined ? type : `${type}, ${reason}`,
  message: text.replaceAll(/\s+/g, " ").trim(),
  ...(since == null ? {} : { since }),
});

/** The lines of a message, each without its bullet, and the blocks of a sentence on lines of their own. */
const linesOf = (message: string): readonly string[] =>
  message
    .split("\n")
    .map((line) => line.replace(/^\s*\* /, "").trim())
    .filter((line) => line !== "");

/** What a set or deployment recorded about itself, once: what its children have is left out. */
export function groupCauses(
  conditions: readonly Condition[],
  children: readonly Explanation[],
): {
  readonly blocks: readonly Cause[];
  readonly progress: readonly Cause[];
  /** Whether a change is not complete, whatever of it is listed. */
  readonly isProgressing: boolean;
} {
  const below = children.flatMap(flatten).flatMap(({ causes, kind, name, state, summary }) => [
    ...causes.map(({ message }) => message),
    // A missing class is a child by itself.
    ...(state === "stuck" && kind === "MachineClass" ? [`${kind} ${name} ${summary}`] : []),
  ]);
  const isBelow = (text: string): boolean =>
    below.some((each) => each.length > 3 && (text.includes(each) || each.includes(text)));
  const found = blocking.flatMap(([type, status]) => {
    const condition = conditions.find((each) => each.type === type && each.status === status);
    return condition === undefined ? [] : [condition];
  });
  const isRepeated = (text: string): boolean =>
    isBelow(text) ||
    found.some(
      ({ type, message = "" }) => repeats[type]?.test(text) === true || (message !== "" && text.includes(message)),
    );
  const progress = conditions
    .filter(({ type, status }) => status === "True" && progressing.includes(type))
    .flatMap((condition) => {
      const [title = "", ...lines] = linesOf(condition.message ?? "");
      const [start = title, sentence] = title.split(" is blocked because");
      const all = sentence === undefined || sentence === "" || sentence === ":" ? lines : [sentence.trim(), ...lines];
      const others = all.filter((line) => !isRepeated(line));
      return isBelow(start) && others.length === 0 ? [] : [causeOf(condition, [start, ...others].join("; "))];
    });
  return {
    isProgressing: conditions.some(({ type, status }) => status === "True" && progressing.includes(type)),
    blocks: found.filter(({ message = "" }) => !isBelow(message)).map((each) => causeOf(each)),
    progress,
  };
}

/** Whether the controllers rejected a part of the spec or the annotations. */
export const isSpecInvalid = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ type, status }) => type === specValidConditionType && status === "False");

/** What a user can do about a block of a set or deployment. */
export function groupRemedy(conditions: readonly Condition[], identity: GroupIdentity): Remedy | undefined {
  const { kind, name, namespace, deployment } = identity;
  const isSet = (type: string, status: string): boolean =>
    conditions.some((each) => each.type === type && each.status === status);
  const owner = deployment === undefined ? `${kind.toLowerCase()} ${name}` : `machinedeployment ${deployment}`;
  if (isSet(crdsEstablishedConditionType, "False"))
    return {
      text: "Restore the CustomResourceDefinition and the objects, or allow their deletion.",
      commands: ["millwright crds diff"],
    };
  if (isSpecInvalid(conditions))
    return {
      text: "Correct the fields that the condition names.",
      commands: [`kubectl edit ${owner} -n ${namespace}`],
    };
  if (isSet(legacyConditionTypes.frozen, "True"))
    return {
      text: "Find out what created or deleted the machines, then unfreeze.",
      commands: [
        `kubectl get events -n ${namespace}`,
        `kubectl annotate ${owner} ${annotationKeys.unfreeze}=${trueLabel} -n ${namespace}`,
      ],
    };
  if (isSet(deletionsHeldConditionType, "True"))
    return {
      text: "Approve the deletions, or undo the change that requires them.",
      commands: [
        `millwright approve ${deployment === undefined && kind === "MachineSet" ? `set ${name}` : `deployment ${deployment ?? name}`} -n ${namespace}`,
      ],
    };
  const protection = conditions.find(
    ({ type, status }) => type === deletionProtectedConditionType && status === "True",
  );
  if (protection !== undefined)
    return protection.reason === deletionProtectedReasons.objectProtected
      ? {
          text: "The deletion cannot be taken back. To go on with it, remove the annotation.",
          commands: [`kubectl annotate ${owner} ${annotationKeys.deletionProtection}- -n ${namespace}`],
        }
      : {
          text: `To have the machines deleted that the condition names, remove their annotation ${annotationKeys.deletionProtection}.`,
          commands: [`kubectl get machines -n ${namespace}`],
        };
  if (isSet(types.paused, "True"))
    return {
      text: "Resume the deployment.",
      commands: [`kubectl patch ${owner} -n ${namespace} --type=merge -p '{"spec":{"paused":false}}'`],
    };
  return undefined;
}

/** What a user does after a canary step that ends only then; `undefined` where the rollout does not pause at one. */
export function canaryRemedy(conditions: readonly Condition[], { name, namespace }: GroupIdentity): Remedy | undefined {
  const rollingOut = conditions.find(({ type, status }) => type === types.rollingOut && status === "True");
  const [, mark] = /^\* Rollout is paused at canary step .* with (\S+)$/m.exec(rollingOut?.message ?? "") ?? [];
  if (mark === undefined) return undefined;
  return {
    text: "Check the new machines. Then continue the rollout, or roll it back.",
    commands: [
      `kubectl annotate machinedeployment ${name} -n ${namespace} --overwrite ${mark}`,
      `kubectl patch machinedeployment ${name} -n ${namespace} --type=merge -p '{"spec":{"rollbackTo":{"revision":0}}}'`,
    ],
  };
}
