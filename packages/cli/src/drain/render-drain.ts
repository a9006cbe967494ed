import type { DrainPodPreview, NodeDrainPreview } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

type Verdict = DrainPodPreview["verdict"];

/** What the reasons of a verdict mean. */
const meanings: Readonly<Record<Verdict["reason"], string>> = {
  mirror: "static pod of the kubelet",
  DaemonSet: "its DaemonSet would bring it back",
  completed: "completed",
  label: "its label says so",
  rule: "a drain rule says so",
  terminating: "is on its way out",
  overdue: "should be gone: something holds it",
  waitCompleted: "is left to complete",
  managed: "its controller makes another",
  unmanaged: "nobody makes another",
  localStorage: "its local storage is lost",
};

const behaviours: Readonly<Record<Verdict["behaviour"], string>> = {
  skip: "stays",
  wait: "waited for",
  evict: "evicted",
};

const orderOf = (verdict: Verdict): string => ("order" in verdict ? String(verdict.order) : "-");

function budgetOf({ budget }: DrainPodPreview): string {
  if (budget === undefined) return "-";
  return budget.state === "free" ? "lets it go" : `${budget.state}: ${plain(budget.message)}`;
}

const volumesOf = ({ volumes }: DrainPodPreview): string =>
  volumes.map(({ name, isAttachedHere }) => `${name}${isAttachedHere ? "" : " (not attached here)"}`).join(", ") || "-";

const podRow = (pod: DrainPodPreview): readonly string[] => [
  plain(`${pod.namespace}/${pod.name}`),
  behaviours[pod.verdict.behaviour],
  meanings[pod.verdict.reason],
  orderOf(pod.verdict),
  volumesOf(pod),
  budgetOf(pod),
];

const hows = {
  evict: "evict",
  delete: "delete past the budget",
  kill: "delete without a grace period",
} as const satisfies Record<NodeDrainPreview["steps"][number]["how"], string>;

const stepLines = ({ steps }: NodeDrainPreview): readonly string[] =>
  steps.map(({ how, pods, at }, index) => {
    const when = at === undefined ? "" : `at ${at}, if nothing changes, `;
    return plain(`${index + 1}. ${when}${hows[how]}: ${pods.join(", ")}`);
  });

function resultOf({ outcome, node, deadline }: NodeDrainPreview): string {
  switch (outcome) {
    case "completes":
      return `A drain of node ${node} would complete by itself.`;
    case "blocked":
      return `A drain of node ${node} would be held up until somebody mends what blocks it, at the latest until ${deadline}.`;
    case "forced":
      return `A drain of node ${node} would be forced: nothing is asked, nothing is waited for.`;
  }
}

function machineText({ machine }: NodeDrainPreview): string {
  if (machine === undefined) return "none: Millwright would not drain this node, and the defaults are shown";
  return `${machine.namespace}/${machine.name}${machine.isBeingDeleted ? " (is being deleted)" : ""}`;
}

/** What a drain would do, for people. */
export function renderDrain(preview: NodeDrainPreview): string {
  const { pods, rules, problem, because } = preview;
  return [
    ...table([
      ["Node:", `${plain(preview.node)}${preview.isCordoned ? " (cordoned)" : ""}`],
      ["Machine:", plain(machineText(preview))],
      ["Rules:", problem === undefined ? `${rules.length}` : `ignored. ${plain(problem)}`],
      ["Evicts until:", `${preview.evictUntil}; from then on pods are deleted past their budgets`],
      ["Ends at:", `${preview.deadline} at the latest; what is left then is deleted without a grace period`],
    ]),
    ...section(
      "Pods",
      pods.length === 0 ? [] : table([["POD", "DRAIN", "WHY", "ORDER", "VOLUMES", "BUDGET"], ...pods.map(podRow)]),
    ),
    ...section("Steps, each after the one before is done", stepLines(preview)),
    ...section("Blocked by", because.map(plain)),
    resultOf(preview),
    "",
  ].join("\n");
}
