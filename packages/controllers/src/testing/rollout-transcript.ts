import { inPlaceUpdateReasons, labelKeys, phaseOf, taintKeys, annotationKeys } from "@millwright/core/machine-api";
import type { Node } from "../model/node-objects.ts";
import { inPlaceReasonOf } from "../model/in-place-state.ts";
import { isAvailable, isDeleting } from "../model/phase.ts";
import type { RolloutModel } from "./rollout-model.ts";

/** Everything succeeds at once: machines run, terminating ones are deleted, and agents update their nodes. */
export function goWell(model: RolloutModel): void {
  for (const machine of model.machines()) {
    if (isDeleting(machine)) model.finishDeletion(machine);
    else if (phaseOf(machine) !== "InPlaceUpdating" && phaseOf(machine) !== "InPlaceUpdateFailed")
      model.setPhase(machine, "Running");
  }
  for (const node of model.nodes.all()) {
    const isReported = node.metadata.labels?.[labelKeys.updateResult] !== undefined;
    if (inPlaceReasonOf(node) === inPlaceUpdateReasons.readyForUpdate && !isReported) report(model, node, "successful");
  }
  model.nodes.catchUp();
}

/** Everything succeeds but machines of that class, which never become available. */
export const breaking =
  (className: string) =>
  (model: RolloutModel): void => {
    const broken = model.machines().filter((each) => each.spec.class?.name === className && !isDeleting(each));
    goWell(model);
    for (const machine of broken) model.setPhase(machine, "Failed");
  };

/** The agent on a node reports the result of its update. */
export function report(model: RolloutModel, { metadata }: Node, result: "successful" | "failed"): void {
  model.nodes.changeUnseen(metadata.name, { metadata: { labels: { [labelKeys.updateResult]: result } } });
}

/** One reconcile by every controller; their messages. */
export function reconcileAll(model: RolloutModel): readonly string[] {
  const messages = [...model.decideDeployment(), ...model.decideSets()];
  model.decideMachines();
  return messages;
}

/** Everything that a controller could still change. */
const stateOf = (model: RolloutModel): string =>
  JSON.stringify([model.deployment(), model.sets(), model.machines(), model.nodes.all()]);

/** Reconciles, and what succeeds between them, until nothing changes any more. */
export function settle(model: RolloutModel, live = goWell): void {
  for (let round = 0; round < 400; round++) {
    const before = stateOf(model);
    reconcileAll(model);
    live(model);
    if (stateOf(model) === before) return;
  }
  throw new Error("the rollout does not settle");
}

/** The class that stands for a set: what differs between templates in tests. */
export const classOf = (model: RolloutModel, name: string): string =>
  model.sets().find(({ metadata }) => metadata.name === name)?.spec.template.spec.class?.name ?? "";

const countOf = (nodes: readonly Node[], what: string, is: (node: Node) => boolean): readonly string[] => {
  const count = nodes.filter(is).length;
  return count === 0 ? [] : [`${count} ${what}`];
};

/** `small 3: 3 serve; big 1: 0 serve | nodes: 3 avoided`. */
function picture(model: RolloutModel): string {
  const sets = model.sets().map(({ metadata, spec }) => {
    const own = model.machines().filter((machine) => machine.metadata.ownerReferences?.[0]?.uid === metadata.uid);
    const others = [
      [own.filter((machine) => isDeleting(machine)).length, "go"],
      [own.filter((machine) => phaseOf(machine) === "Failed" && !isDeleting(machine)).length, "failed"],
    ];
    const rest = others.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
    const counts = [`${own.filter(isAvailable).length} serve`, ...rest].join(", ");
    return `${classOf(model, metadata.name)} ${spec.replicas ?? 0} (${counts})`;
  });
  const nodes = model.nodes.all();
  const marks = [
    ...countOf(
      nodes,
      "avoided",
      ({ spec }) => spec?.taints?.some(({ key }) => key === taintKeys.preferNoSchedule) === true,
    ),
    ...countOf(
      nodes,
      "kept",
      ({ metadata }) => metadata.annotations?.[annotationKeys.scaleDownDisabledByController] === "true",
    ),
    ...countOf(nodes, "candidates", ({ metadata }) => metadata.labels?.[labelKeys.candidateForUpdate] !== undefined),
    ...countOf(nodes, "selected", ({ metadata }) => metadata.labels?.[labelKeys.selectedForUpdate] !== undefined),
    ...countOf(nodes, "cordoned", ({ spec }) => spec?.unschedulable === true),
  ];
  return [sets.join(", "), ...(marks.length === 0 ? [] : [`nodes: ${marks.join(", ")}`])].join(" | ");
}

/** What a user does in a round; returns its label. */
export type Interference = (model: RolloutModel) => string;

/** What a transcript is made of. */
export interface TranscriptOptions {
  /** What happens before that round, counted from 0. */
  readonly at?: Readonly<Record<number, Interference>>;
  readonly live?: (model: RolloutModel) => void;
  /** Rounds to take. Default 60. */
  readonly rounds?: number;
}

/** A whole rollout, a line for each round in which something happened. Sets and machines go by the class of their template. */
export function transcribe(
  model: RolloutModel,
  { at = {}, live = goWell, rounds = 60 }: TranscriptOptions = {},
): string {
  const short = (line: string): string =>
    line.replaceAll(/(pool-[a-z0-9]{5})(-[0-9-]+)?/g, (_, name: string) => classOf(model, name));
  const lines: string[] = [];
  let last = picture(model);
  for (let round = 0; round < rounds; round++) {
    const event = at[round];
    if (event !== undefined) lines.push(`* ${event(model)}`);
    const messages = reconcileAll(model).map((line) => short(line).replace("machine set ", ""));
    const now = picture(model);
    if (messages.length > 0 || now !== last)
      lines.push(`${messages.length === 0 ? "-" : messages.join("; ")} => ${now}`);
    live(model);
    last = now;
  }
  const progress = model.deployment().status?.conditions?.find(({ type }) => type === "Progressing");
  return [...lines, short(`${progress?.reason}: ${progress?.message}`), `end: ${picture(model)}`].join("\n");
}
