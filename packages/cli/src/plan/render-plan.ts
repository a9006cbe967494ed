import { formatGoDuration } from "@millwright/base";
import { formatProblems } from "@millwright/core/machine-api";
import type { Plan } from "@millwright/plan";
import { plain, section, SECTION_INDENT, table, wrapLines } from "../terminal/text.ts";

type Change = Plan["changes"][number];
type Step = Change["steps"][number];

/** Maximum number of steps of one change, and of names in one line; the JSON has all. */
const MAX_STEPS = 60;
const MAX_NAMES = 8;

const names = (all: readonly string[]): string => {
  const rest = all.length - MAX_NAMES;
  return `${all.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
};

const machines = (count: number): string => (count === 1 ? "1 machine" : `${count} machines`);

const duration = (ms: number): string => formatGoDuration(Math.round(ms / 1000) * 1000);

/** Machines that a step creates, by set: a set creates many in bursts. */
function createdBySet({ machinesCreated }: Step): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { set, count } of machinesCreated) counts.set(set, (counts.get(set) ?? 0) + count);
  return [...counts];
}

/** The actions of a step, a clause each. */
function clauses(step: Step): readonly string[] {
  const some = (list: readonly string[], words: string): readonly string[] =>
    list.length === 0 ? [] : [`${words} ${names(list)}`];
  return [
    ...step.setsCreated.map(({ name, className }) => `create MachineSet ${name} of class ${className}`),
    ...createdBySet(step).map(([set, count]) => `create ${machines(count)} in ${set}`),
    ...some(
      step.machinesDeleted.map(({ name, node }) => (node === undefined ? name : `${name} (node ${node})`)),
      "delete",
    ),
    ...some(step.machinesUpdated, "drain and update in place"),
    ...some(step.machinesChanged, "change without replacement"),
    ...some(step.nodesTainted, "taint, so that the scheduler avoids"),
    ...some(step.nodesUntainted, "remove the taint of"),
    ...some(step.setsDeleted, "delete MachineSet"),
  ];
}

function stepRows(steps: readonly Step[]): readonly (readonly string[])[] {
  const shown = steps.slice(0, MAX_STEPS).map((step, index) => {
    const { current, old, terminating, available } = step.after;
    const actions = clauses(step);
    const lines = actions.length > 0 ? actions : step.messages;
    return [
      `${index + 1}.`,
      `+${duration(step.afterMs)}`,
      `${current}/${old}/${terminating}`,
      String(available),
      lines.map(plain).join("\n"),
    ];
  });
  const rest = steps.length - shown.length;
  return [
    ["", "AT", "NEW/OLD/TERMINATING", "AVAILABLE", "STEP"],
    ...shown,
    ...(rest > 0 ? [["", "", "", "", `and ${rest} more steps: see -o json`]] : []),
  ];
}

function durationText({ durations, expectedMs }: Change): string {
  const { joinMs, deletionMs, finishedJoins, finishedDeletions } = durations;
  const joining =
    joinMs === undefined
      ? "the time to join is unknown (set --join-time)"
      : finishedJoins === 0
        ? `${duration(joinMs)} for a machine to join`
        : `${duration(joinMs)} for a machine to join, the median of ${finishedJoins}`;
  const deleting =
    deletionMs === undefined
      ? "the time of a drain and deletion is unknown (set --drain-time)"
      : `${duration(deletionMs)} for a drain and deletion${finishedDeletions === 0 ? "" : `, the median of ${finishedDeletions} from events`}`;
  const isKnown = joinMs !== undefined && deletionMs !== undefined;
  return `${isKnown ? "" : "at least "}${duration(expectedMs)}; ${joining}; ${deleting}`;
}

const outcomes: Readonly<Record<Change["outcome"], string>> = {
  nothing: "nothing would happen",
  completes: "would complete by itself",
  waits: "would not complete by itself",
  unknown: "would continue beyond the limits of a preview",
  rejected: "would be rejected by the controllers",
};

/** The indentation of the sections of a change. */
const INDENT = 2;

function changeLines(change: Change, lineWidth: number | undefined): readonly string[] {
  const { kind, name, outcome, steps, surge, waitsFor, problems } = change;
  const widthBelow = (indent: number): number | undefined => (lineWidth === undefined ? undefined : lineWidth - indent);
  const title = `${kind} ${name}: ${outcomes[outcome]}`;
  const facts =
    steps.length === 0
      ? []
      : table(
          [
            [
              "Surge:",
              `at most ${machines(surge.used)} beyond its size${surge.allowed > 0 ? `, of ${surge.allowed} allowed` : ""}`,
            ],
            ["Available:", `at least ${change.minAvailable}`],
            ["Expected:", durationText(change)],
          ],
          widthBelow(INDENT),
        );
  const stepLines = steps.length === 0 ? [] : table(stepRows(steps), widthBelow(INDENT + SECTION_INDENT));
  return [
    ...wrapLines([plain(title)], lineWidth),
    // Without it, such as a class that does not exist, no step is made.
    ...section(
      "  Waits for",
      waitsFor.map((each) => `  ${plain(each)}`),
      lineWidth,
    ),
    ...facts.map((line) => `  ${line}`),
    ...section(
      "  Steps",
      stepLines.map((line) => `  ${line}`),
    ),
    ...section(
      "  Problems",
      problems.map((problem) => `  ${plain(formatProblems([problem]))}`),
      lineWidth,
    ),
  ];
}

function drainLines({ drains }: Plan): readonly string[] {
  const blocked = drains.filter(({ outcome }) => outcome === "blocked");
  if (drains.length === 0) return [];
  const free = drains.length - blocked.length;
  return [
    ...(free > 0 ? [`${free} of ${drains.length} nodes can be drained without blockers`] : []),
    ...blocked.flatMap(({ node, machine, deadline, because }) => [
      `node ${node} of machine ${machine} would be blocked until ${deadline}, if drained now:`,
      ...because.map((line) => `  ${line}`),
    ]),
  ].map(plain);
}

/**
 * Renders the effects of changes for people.
 *
 * @param lineWidth characters in a line. Default: lines are not broken
 */
export function renderPlan(plan: Plan, lineWidth?: number): string {
  const deleted = plan.deletedMachines.map(({ name, node }) => (node === undefined ? name : `${name} (node ${node})`));
  return [
    ...plan.changes.flatMap((change) => [...changeLines(change, lineWidth), ""]),
    ...section("Deleted by the change itself", deleted.map(plain), lineWidth),
    ...section("Drains, as if each began now", drainLines(plan), lineWidth),
    ...section("Notes", plan.notes.map(plain), lineWidth),
    plan.hasEffect ? "Nothing was written." : "Nothing would happen.",
    "",
  ].join("\n");
}
