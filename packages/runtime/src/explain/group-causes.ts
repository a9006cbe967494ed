import {
  type HoldCondition,
  holdConditions,
  ownerArgument,
  type OwnerIdentity,
  plainDifference,
  refusedWriteRemedy,
} from "@millwright/controllers/reports";
import {
  clusterApiConditionTypes as types,
  clusterApiReasons,
  legacyConditionTypes,
  legacyReasons,
  specValidConditionType,
} from "@millwright/core/machine-api";
import type { Condition } from "@millwright/kube";
import type { Cause, Explanation, Remedy } from "./explanation.ts";
import { flatten } from "./explanation.ts";

/** A condition that is a cause by itself, and what a user can do about it. Absent: it depends on its message. */
interface BlockingCondition extends Pick<HoldCondition, "type" | "mention">, Partial<Pick<HoldCondition, "remedyOf">> {
  readonly status: Condition["status"];
  /** Default: any. */
  readonly reason?: string;
}

const specInvalid: BlockingCondition = {
  type: specValidConditionType,
  status: "False",
  mention: /spec is not valid/,
  remedyOf: (_, owner) => [
    "Correct the fields that the condition names.",
    `kubectl edit ${ownerArgument(owner)} -n ${owner.namespace}`,
  ],
};

const paused: BlockingCondition = {
  type: types.paused,
  status: "True",
  mention: /^Rollout is paused$/,
  remedyOf: (_, owner) => [
    "Resume the deployment.",
    `kubectl patch ${ownerArgument(owner)} -n ${owner.namespace} --type=merge -p '{"spec":{"paused":false}}'`,
  ],
};

const withoutSize: BlockingCondition = {
  type: types.scalingUp,
  status: "Unknown",
  reason: clusterApiReasons.waitingForReplicasSet,
  remedyOf: (_, owner) => [
    "Set spec.replicas, or the annotations of a cluster autoscaler: without both it counts as 0.",
    `kubectl edit ${ownerArgument(owner)} -n ${owner.namespace}`,
  ],
};

/** The API server rejects an object that has to be created or deleted. */
const rejected = (condition: Pick<BlockingCondition, "type" | "status" | "reason">): BlockingCondition => ({
  ...condition,
  remedyOf: ({ reason, message = "" }, { namespace }) =>
    message.includes("no longer match the selector")
      ? ["Restore the labels, or delete what was released.", `kubectl get machinesets -n ${namespace} --show-labels`]
      : refusedWriteRemedy(namespace, reason),
});

/** The most important first: while everything is held, nothing else is looked at. */
const blocking: readonly BlockingCondition[] = [
  ...holdConditions.filter(({ holds }) => holds === "everything"),
  specInvalid,
  withoutSize,
  ...holdConditions.filter(({ holds }) => holds !== "everything"),
  paused,
  rejected({ type: legacyConditionTypes.replicaFailure, status: "True" }),
  rejected({ type: legacyConditionTypes.progressing, status: "False", reason: legacyReasons.machineSetCreateError }),
];

/** Conditions that show progress, whose messages list what blocks it. */
const progressing: readonly string[] = [types.rollingOut, types.scalingUp, types.scalingDown, types.remediating];

const causeOf = ({ type, reason, message = "", lastTransitionTime: since }: Condition, text = message): Cause => ({
  reason: type === reason || reason === undefined ? type : `${type}, ${reason}`,
  message: linesOf(text).map(plainDifference).join("; ").replaceAll(/\s+/g, " ").replaceAll(":; ", ": "),
  ...(since == null ? {} : { since }),
});

/** The lines of a message, each without its bullet, and the blocks of a sentence on lines of their own. */
const linesOf = (message: string): readonly string[] =>
  message
    .split("\n")
    .map((line) => line.replace(/^\s*\* /, "").trim())
    .filter((line) => line !== "");

/** The condition of an object, where it is the blocking one. */
function shown(conditions: readonly Condition[], { type, status, reason }: BlockingCondition): Condition | undefined {
  const found = conditions.find((each) => each.type === type && each.status === status);
  return reason === undefined || found?.reason === reason ? found : undefined;
}

/** The blocking conditions that an object has. */
const foundIn = (
  conditions: readonly Condition[],
): readonly (BlockingCondition & { readonly condition: Condition })[] =>
  blocking.flatMap((each) => {
    const condition = shown(conditions, each);
    return condition === undefined ? [] : [{ ...each, condition }];
  });

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
  const found = foundIn(conditions);
  const isRepeated = (text: string): boolean =>
    isBelow(text) ||
    found.some(
      ({ condition: { message = "" }, mention }) =>
        mention?.test(text) === true || (message !== "" && text.includes(message)),
    );
  const progress = conditions
    .filter(({ type, status }) => status === "True" && progressing.includes(type))
    .flatMap((condition) => {
      const [title = "", ...lines] = linesOf(condition.message ?? "");
      const [start = title, sentence] = title.split(" is blocked because");
      const all = sentence === undefined || sentence === "" || sentence === ":" ? lines : [sentence.trim(), ...lines];
      const others = all.filter((line) => !isRepeated(line));
      return isBelow(start) && others.length === 0 ? [] : [causeOf(condition, [start, ...others].join("\n"))];
    });
  return {
    isProgressing: conditions.some(({ type, status }) => status === "True" && progressing.includes(type)),
    blocks: found
      .filter(({ condition: { message = "" } }) => !isBelow(message))
      .map(({ condition }) => causeOf(condition)),
    progress,
  };
}

/** Whether the controllers rejected a part of the spec or the annotations, or the spec has no size. */
export const isSpecInvalid = (conditions: readonly Condition[]): boolean =>
  [specInvalid, withoutSize].some((each) => shown(conditions, each) !== undefined);

/** The conditions because of which a set or deployment waits for a user, the most important first, each with what helps. */
export const blocksOf = (
  conditions: readonly Condition[],
  identity: OwnerIdentity,
): readonly { readonly condition: Condition; readonly remedy?: Remedy }[] =>
  foundIn(conditions).map(({ condition, remedyOf }) => {
    const [text, ...commands] = remedyOf?.(condition, identity) ?? [];
    return { condition, ...(text === undefined ? {} : { remedy: { text, commands } }) };
  });

/** What a user can do about a block of a set or deployment. */
export const groupRemedy = (conditions: readonly Condition[], identity: OwnerIdentity): Remedy | undefined =>
  blocksOf(conditions, identity).find(({ remedy }) => remedy !== undefined)?.remedy;

/** The maintenance window that a rollout waits for, a sentence; `undefined` where it waits for none. */
export function awaitedWindow(conditions: readonly Condition[]): string | undefined {
  const rollingOut = conditions.find(({ type, status }) => type === types.rollingOut && status === "True");
  return linesOf(rollingOut?.message ?? "").find((line) =>
    /^Rollout waits for (?:a|the) maintenance window/.test(line),
  );
}

/** What a user does where a rollout waits for a class from which no machine can be made; `undefined` where it does not. */
function classRemedy(message: string, namespace: string): Remedy | undefined {
  const [, name] = /^\* Rollout waits for MachineClass (\S+): /m.exec(message) ?? [];
  if (name === undefined) return undefined;
  return {
    text: `Create or correct MachineClass ${name} and its Secrets, or name another one in the template.`,
    commands: [`kubectl get machineclasses -n ${namespace}`],
  };
}

/** What a user does so that a rollout goes on: about its class, or after a canary step that ends only then; `undefined` where it does not wait for a user. */
export function rolloutRemedy(
  conditions: readonly Condition[],
  { name, namespace }: OwnerIdentity,
): Remedy | undefined {
  const rollingOut = conditions.find(({ type, status }) => type === types.rollingOut && status === "True");
  const { message = "" } = rollingOut ?? {};
  const ofClass = classRemedy(message, namespace);
  if (ofClass !== undefined) return ofClass;
  const [, mark] = /^\* Rollout is paused at canary step .* with (\S+)$/m.exec(message) ?? [];
  if (mark === undefined) return undefined;
  return {
    text: "Check the new machines. Then continue the rollout, or roll it back.",
    commands: [
      `kubectl annotate machinedeployment ${name} -n ${namespace} --overwrite ${mark}`,
      `kubectl patch machinedeployment ${name} -n ${namespace} --type=merge -p '{"spec":{"rollbackTo":{"revision":0}}}'`,
    ],
  };
}
