import { formatGoDuration, formatProblems } from "@millwright/core";
import type { Plan } from "@millwright/plan";
import { plain, section, table } from "../terminal/text.ts";

type Change = Plan["changes"][number];
type Step = Change["steps"][number];

/** Steps that are shown of one change, and names in one line; all are in the JSON. */
const MOST_STEPS = 60;
const MOST_NAMES = 8;

const names = (all: readonly string[]): string => {
  const rest = all.length - MOST_NAMES;
  return `${all.slice(0, MOST_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
};

const machines = (count: number): string => (count === 1 ? "1 machine" : `${count} machines`);

const duration = (ms: number): string => formatGoDuration(Math.round(ms / 1000) * 1000);

/** Machines that a step makes, by set: a set makes many in bursts, one right after the other. */
function createdBySet({ machinesCreated }: Step): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { set, count } of machinesCreated) counts.set(set, (counts.get(set) ?? 0) + count);
  return [...counts];
}

/** What happens in a step, a clause each. */
function clauses(step: Step): readonly string[] {
  const some = (list: readonly string[], words: string): readonly string[] =>
    list.length === 0 ? [] : [`${words} ${names(list)}`];
  return [
    ...step.setsCreated.map(({ name, className }) => `make MachineSet ${name} of class ${className}`),
    ...createdBySet(step).map(([set, count]) => `create ${machines(count)} in ${set}`),
    ...some(
      step.machinesDeleted.map(({ name, node }) => (node === undefined ? name : `${name} (node ${node})`)),
      "delete",
    ),
    ...some(step.machinesUpdated, "drain and update in place"),
    ...some(step.machinesChanged, "change without replacement"),
    ...some(step.nodesTainted, "steer pods away from"),
    ...some(step.nodesUntainted, "let pods come again to"),
    ...some(step.setsDeleted, "delete MachineSet"),
  ];
}

function stepRows(steps: readonly Step[]): readonly (readonly string[])[] {
  const shown = steps.slice(0, MOST_STEPS).map((step, index) => {
    const { current, old, leaving, serving } = step.after;
    const told = clauses(step);
    const what = told.length > 0 ? told : step.says;
    return [
      `${index + 1}.`,
      `+${duration(step.afterMs)}`,
      `${current}/${old}/${leaving}`,
      String(serving),
      what.map(plain).join("\n"),
    ];
  });
  const rest = steps.length - shown.length;
  return [
    ["", "AT", "NEW/OLD/LEAVING", "SERVING", "STEP"],
    ...shown,
    ...(rest > 0 ? [["", "", "", "", `and ${rest} more steps: see -o json`]] : []),
  ];
}

function durationText({ durations, expectedMs }: Change): string {
  const { joinMs, leaveMs, joinedMachines, leftMachines } = durations;
  const joining =
    joinMs === undefined
      ? "how long machines take to join is unknown (--join-time says it)"
      : joinedMachines === 0
        ? `${duration(joinMs)} for a machine to join`
        : `${duration(joinMs)} for a machine to join, as the middle one of ${joinedMachines} did`;
  const leaving =
    leaveMs === undefined
      ? "how long drains and deletions take is unknown (--drain-time says it)"
      : `${duration(leaveMs)} for a drain and deletion${leftMachines === 0 ? "" : `, the middle of ${leftMachines} that events tell of`}`;
  const isKnown = joinMs !== undefined && leaveMs !== undefined;
  return `${isKnown ? "" : "at least "}${duration(expectedMs)}; ${joining}; ${leaving}`;
}

const outcomes: Readonly<Record<Change["outcome"], string>> = {
  nothing: "nothing would happen",
  completes: "would complete by itself",
  waits: "would not complete by itself",
  unknown: "would go on for longer than a preview does",
  refused: "the controllers would refuse it",
};

function changeLines(change: Change): readonly string[] {
  const { kind, name, outcome, steps, surge, waitsFor, problems } = change;
  const title = `${kind} ${name}: ${outcomes[outcome]}`;
  const facts =
    steps.length === 0
      ? []
      : table([
          [
            "Surge:",
            `${machines(surge.used)} beyond its size at most${surge.allowed > 0 ? `, of ${surge.allowed} allowed` : ""}`,
          ],
          ["Serving:", `never fewer than ${change.fewestServing}`],
          ["Expected:", durationText(change)],
        ]);
  return [
    plain(title),
    ...facts.map((line) => `  ${line}`),
    ...section("  Steps", steps.length === 0 ? [] : table(stepRows(steps)).map((line) => `  ${line}`)),
    ...section(
      "  Waits for",
      waitsFor.map((each) => `  ${plain(each)}`),
    ),
    ...section(
      "  Problems",
      problems.length === 0
        ? []
        : formatProblems(problems)
            .split("\n")
            .map((line) => `  ${plain(line)}`),
    ),
  ];
}

function drainLines({ drains }: Plan): readonly string[] {
  const blocked = drains.filter(({ outcome }) => outcome === "blocked");
  if (drains.length === 0) return [];
  const free = drains.length - blocked.length;
  return [
    ...(free > 0 ? [`${free} of ${drains.length} nodes would be drained without anything that blocks them`] : []),
    ...blocked.flatMap(({ node, machine, deadline, because }) => [
      `node ${node} of machine ${machine} is held up, if drained now until ${deadline}:`,
      ...because.map((line) => `  ${line}`),
    ]),
  ].map(plain);
}

/** What changes would lead to, for people. */
export function renderPlan(plan: Plan): string {
  const deleted = plan.deletedMachines.map(({ name, node }) => (node === undefined ? name : `${name} (node ${node})`));
  return [
    ...plan.changes.flatMap((change) => [...changeLines(change), ""]),
    ...section("Deleted by the change itself", deleted.map(plain)),
    ...section("Drains, each as if it began now", drainLines(plan)),
    ...section("Notes", plan.notes.map(plain)),
    plan.happens ? "Nothing was written." : "Nothing would happen.",
    "",
  ].join("\n");
}
