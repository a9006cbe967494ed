import { phaseTransitions } from "@millwright/core/machine-api";
import { planRollingUpdate } from "../../packages/controllers/src/machine-deployment/sizes/plan-rolling-update.ts";
import type { RolloutBounds } from "../../packages/controllers/src/machine-deployment/state/rollout-bounds.ts";
import { conceptDiagrams } from "./concept-diagrams.ts";

const fence = (lines: readonly string[]): string => ["```mermaid", ...lines, "```"].join("\n");

/** Names of states; mermaid needs one for the empty phase. */
const stateOf = (phase: string): string => (phase === "" ? "New" : phase);

/** Where the transition that is possible in every phase starts in a picture of a few phases. */
interface Picture {
  /** Numbers of transitions in docs/architecture.md, in the order of the picture. */
  readonly rows: readonly number[];
  /** The phases of the picture from which a machine is deleted. */
  readonly deletedFrom: readonly string[];
  /** Whether arrows have the reason of the transition. */
  readonly reasons: boolean;
}

/** Some transitions of the phases as a state diagram. Throws when a number does not exist. */
function phasePicture({ rows, deletedFrom, reasons }: Picture): string {
  const arrows = new Set<string>();
  for (const number of rows) {
    const transition = phaseTransitions.find(({ row }) => row === number);
    if (transition === undefined) throw new Error(`there is no transition ${number} between phases`);
    const { from, to, trigger } = transition;
    for (const start of from === "any" ? deletedFrom : from)
      if (start !== to) arrows.add(`  ${stateOf(start)} --> ${stateOf(to)}${reasons ? `: ${trigger}` : ""}`);
  }
  return fence(["stateDiagram-v2", ...arrows]);
}

/** Sizes of a rolling update after each step, as the planner decides them; every step succeeds at once. */
export function rollingUpdateSteps(bounds: RolloutBounds): readonly { readonly old: number; readonly new: number }[] {
  const steps = [{ old: bounds.replicas, new: 0 }];
  for (;;) {
    const last = steps.at(-1) ?? { old: 0, new: 0 };
    const set = (name: "old" | "new") => ({ name, spec: last[name], existing: last[name], available: last[name] });
    const sizes = planRollingUpdate(bounds, set("new"), [set("old")]);
    if (sizes.size === 0) return steps;
    steps.push({ old: sizes.get("old") ?? last.old, new: sizes.get("new") ?? last.new });
  }
}

/** Start of a diagram that is one chain: from top to bottom, so that it is not wider than a page, with short arrows. */
export const chainOfBoxes = ['%%{init: {"flowchart": {"rankSpacing": 20}}}%%', "flowchart TD"] as const;

/** The steps of a rolling update as boxes. */
function rolloutPicture(bounds: RolloutBounds): string {
  const steps = rollingUpdateSteps(bounds);
  const boxes = steps.map((step, index) => `s${index}["${step.old} old, ${step.new} new"]`);
  return fence([...chainOfBoxes, `  ${boxes.join(" --> ")}`]);
}

/** Pictures of the pages in docs/concepts that are made from tables and planners of the code. */
export const conceptBlocks = (): readonly (readonly [string, string])[] => [
  [
    "life-picture",
    phasePicture({ rows: [1, 3, 4, 7, 8, 9, 10, 11, 20], deletedFrom: ["Running", "Failed"], reasons: false }),
  ],
  ["health-picture", phasePicture({ rows: [9, 10, 11, 13, 20], deletedFrom: ["Failed"], reasons: true })],
  ["rollout-picture", rolloutPicture({ replicas: 3, maxSurge: 1, maxUnavailable: 0 })],
  ...conceptDiagrams(),
];
