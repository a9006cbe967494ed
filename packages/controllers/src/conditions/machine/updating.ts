import {
  annotationKeys,
  clusterApiReasons as reasons,
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  machineConditionTypes as types,
  type MachineTemplate,
  nodeConditionTypes,
  phaseOf,
} from "@millwright/core/machine-api";
import { equalJson, findCondition, cutText } from "@millwright/kube";
import { isSameTemplate } from "../../model/template-hash.ts";
import { type ConditionOf, type MachineFacts, nodeConditionsOf, nodeOf, newCondition } from "./facts.ts";

/** Stages in which the node is being updated: neither candidates nor updated nodes. */
const updatingStages: ReadonlySet<string> = new Set([
  inPlaceUpdateReasons.selectedForUpdate,
  inPlaceUpdateReasons.drainSuccessful,
  inPlaceUpdateReasons.readyForUpdate,
]);

/** The failure that the agent on the node reports. */
function failureText(facts: MachineFacts, message: string | undefined): string {
  const prefix = inPlaceUpdateMessages.UpdateFailed;
  const reported = message?.startsWith(prefix) === true ? message.slice(prefix.length) : "";
  const text = nodeOf(facts)?.metadata.annotations?.[annotationKeys.updateFailedReason] ?? reported;
  return text.trim() === "" ? "In-place update failed" : `In-place update failed: ${cutText(text.trim())}`;
}

/** True while the node is updated in place, and when that failed. */
export const updating: ConditionOf = (facts) => {
  const condition = findCondition(nodeConditionsOf(facts), nodeConditionTypes.inPlaceUpdate);
  const { reason = "", message, lastTransitionTime } = condition ?? {};
  const phase = phaseOf(facts.machine);
  const is = (why: string, text: string) => newCondition(types.updating, "True", why, text, lastTransitionTime);
  if (reason === inPlaceUpdateReasons.updateFailed || phase === "InPlaceUpdateFailed")
    return is(reasons.inPlaceUpdateFailed, failureText(facts, message));
  if (updatingStages.has(reason) || phase === "InPlaceUpdating") {
    const stage = updatingStages.has(reason) ? `, stage: ${reason}` : "";
    return is(reasons.inPlaceUpdating, `In-place update in progress${stage}`);
  }
  return newCondition(types.updating, "False", reasons.notUpdating);
};

const isSame = (a: unknown, b: unknown): boolean => equalJson(a ?? {}, b ?? {});

/** Labels without that of the template's hash, annotations, and everything else in the metadata of a template. */
function metadataOf({ metadata = {} }: MachineTemplate) {
  const { labels: { [labelKeys.machineTemplateHash]: _, ...labels } = {}, annotations, ...rest } = metadata;
  return { labels, annotations, rest };
}

/** What differs between two templates that are not the same, for people, the class first (Cluster API, `machine_controller_status.go`). */
export function templateDifferences(old: MachineTemplate, current: MachineTemplate): readonly string[] {
  if (isSameTemplate(old, current, labelKeys.machineTemplateHash)) return [];
  const [before, after] = [metadataOf(old), metadataOf(current)];
  const change = (name: string, have = "", wanted = ""): readonly string[] =>
    have === wanted ? [] : [`* ${name} ${have || "none"}, ${wanted || "none"} required`];
  const { class: oldClass, providerID: oldId } = old.spec;
  const { class: newClass, providerID: newId } = current.spec;
  const lines = [
    ...change(newClass?.kind ?? "MachineClass", oldClass?.name, newClass?.name),
    ...change("class.apiGroup", oldClass?.apiGroup, newClass?.apiGroup),
    ...(isSame(before.labels, after.labels) ? [] : ["* Template labels are not up-to-date"]),
    ...(isSame(before.annotations, after.annotations) ? [] : ["* Template annotations are not up-to-date"]),
    ...(isSame(before.rest, after.rest) ? [] : ["* Template metadata is not up-to-date"]),
    ...change("spec.providerID", oldId, newId),
  ];
  return lines.length > 0 ? lines : ["* Template metadata is not up-to-date"];
}

/** A line of {@link templateDifferences}, without its bullet, for people who do not know Cluster API's words: `class small -> big`. Other texts are kept. */
export const plainDifference = (line: string): string =>
  line.replace(
    /^(\S+) (\S+), (\S+) required$/,
    (_, name: string, have: string, wanted: string) =>
      `${name === "MachineClass" ? "class" : name} ${have} -> ${wanted}`,
  );

/**
 * Whether the set of the machine has the template of the deployment. The set decides, so that the condition and the rollout are consistent.
 * Absent for a machine without both.
 */
export const upToDate: ConditionOf = (facts, now) => {
  const { set, deployment } = facts;
  if (set === undefined || deployment === undefined) return undefined;
  const { differences: lines = templateDifferences(set.spec.template, deployment.spec.template) } = facts;
  const update = updating(facts, now);
  const progress = update?.status === "True" ? [`* ${update.message}`] : [];
  if (lines.length === 0 && progress.length === 0) return newCondition(types.upToDate, "True", reasons.upToDate);
  const reason = progress.length > 0 ? reasons.updating : reasons.notUpToDate;
  return newCondition(types.upToDate, "False", reason, [...lines, ...progress].join("\n"));
};
