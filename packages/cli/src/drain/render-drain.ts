import type { DrainPodPreview, NodeDrainPreview } from "@millwright/runtime";
import { plain, section, table } from "../terminal/text.ts";

type Verdict = DrainPodPreview["verdict"];

/** What the reasons of a verdict mean. */
const meanings: Readonly<Record<Verdict["reason"], string>> = {
  mirror: "static pod of the kubelet",
  DaemonSet: "its DaemonSet would recreate it",
  completed: "completed",
  label: "label of the pod",
  rule: "drain rule",
  returned: "tolerates the cordon and was created after it",
  terminating: "is terminating",
  overdue: "is overdue: its deletion is blocked",
  waitCompleted: "runs to completion",
  managed: "its controller recreates it",
  unmanaged: "has no controller",
  localStorage: "its local storage is lost",
};

const behaviors: Readonly<Record<Verdict["behavior"], string>> = {
  skip: "stays",
  wait: "waited for",
  evict: "evicted",
};

const orderOf = (verdict: Verdict): string => ("order" in verdict ? String(verdict.order) : "-");

function budgetOf({ budget }: DrainPodPreview): string {
  if (budget === undefined) return "-";
  return budget.state === "free" ? "allows it" : `${budget.state}: ${plain(budget.message)}`;
}

const volumesOf = ({ volumes }: DrainPodPreview): string =>
  volumes.map(({ name, isAttachedHere }) => `${name}${isAttachedHere ? "" : " (not attached here)"}`).join(", ") || "-";

const podRow = (pod: DrainPodPreview): readonly string[] => [
  plain(`${pod.namespace}/${pod.name}`),
  behaviors[pod.verdict.behavior],
  meanings[pod.verdict.reason],
  orderOf(pod.verdict),
  volumesOf(pod),
  budgetOf(pod),
];

const hows = {
  evict: "evict",
  delete: "delete despite the budget",
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
      return `A drain of node ${node} would be blocked until its causes are fixed, at the latest until ${deadline}.`;
    case "forced":
      return `A drain of node ${node} would be forced: pods are deleted at once, without eviction.`;
  }
}

function machineText({ machine }: NodeDrainPreview): string {
  if (machine === undefined) return "none: Millwright would not drain this node; the defaults are shown";
  return `${machine.namespace}/${machine.name}${machine.isBeingDeleted ? " (is being deleted)" : ""}`;
}

/** The preview of a drain as text. */
export function renderDrain(preview: NodeDrainPreview): string {
  const { pods, rules, problem, because } = preview;
  return [
    ...table([
      ["Node:", `${plain(preview.node)}${preview.isCordoned ? " (cordoned)" : ""}`],
      ["Machine:", plain(machineText(preview))],
      ["Rules:", problem === undefined ? `${rules.length}` : `ignored. ${plain(problem)}`],
      ["Evicts until:", `${preview.evictUntil}; from then on pods are deleted despite their budgets`],
      ["Ends at:", `${preview.deadline} at the latest; remaining pods are deleted without a grace period`],
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
