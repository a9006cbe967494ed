import {
  clusterApiReasons as reasons,
  labelKeys,
  machineConditionTypes as types,
  type NodeCondition,
  nodeConditionTypes,
  unknownNodeName,
} from "@millwright/core/machine-api";
import { findCondition, type DerivedCondition, cutText } from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";
import {
  type ConditionOf,
  hadNode,
  isNodeGone,
  type MachineFacts,
  nodeConditionsOf,
  nodeOf,
  phaseSince,
  newCondition,
} from "./facts.ts";
import { waitingForVm } from "./infrastructure-ready.ts";

/** Conditions of every kubelet: a node without them is not known to be healthy. */
const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

const unreported = "Condition not yet reported";

/** The common state of NodeReady and NodeHealthy while there are no conditions of a node. */
function withoutNode(facts: MachineFacts): Omit<DerivedCondition, "type"> | undefined {
  const { machine, isTargetReachable } = facts;
  const name = machine.metadata.labels?.[labelKeys.node] ?? "";
  const { providerID = "" } = machine.spec;
  if (!isTargetReachable) {
    return {
      status: "Unknown",
      reason: reasons.connectionDown,
      message: "The API server of the target cluster is unreachable",
    };
  }
  const { type: _, ...gone } = newCondition(
    "",
    "False",
    reasons.nodeDeleted,
    `Node ${name} has been deleted`,
    phaseSince(facts),
  );
  if (isDeleting(machine) && isNodeGone(facts)) {
    return hadNode(facts)
      ? gone
      : { status: "Unknown", reason: reasons.nodeDoesNotExist, message: "Node does not exist" };
  }
  if (isNodeGone(facts) && hadNode(facts))
    return { ...gone, message: `${gone.message} while the Machine still exists` };
  if (nodeOf(facts) === undefined && (isNodeGone(facts) || !hadNode(facts))) {
    const message =
      providerID === ""
        ? waitingForVm
        : `Waiting for a Node with spec.providerID ${cutText(providerID)} to exist${name === "" ? `. ${unknownNodeName()}` : ""}`;
    return { status: "Unknown", reason: reasons.inspectionFailed, message };
  }
  return undefined;
}

/** Whether the kubelet reports its node as ready. Absent without a target cluster. */
export const nodeReady: ConditionOf = (facts) => {
  if (!facts.hasTarget) return undefined;
  const without = withoutNode(facts);
  if (without !== undefined) return { type: types.nodeReady, ...without };
  const ready = findCondition(nodeConditionsOf(facts), nodeConditionTypes.ready);
  const since = ready?.lastTransitionTime;
  if (ready?.status === "True") return newCondition(types.nodeReady, "True", reasons.nodeReady, "", since);
  const text = ready === undefined ? unreported : (ready.message ?? "");
  const message = text === "" ? "" : `* Node.Ready: ${cutText(text)}`;
  return ready?.status === "False"
    ? newCondition(types.nodeReady, "False", reasons.nodeNotReady, message, since)
    : newCondition(types.nodeReady, "Unknown", reasons.nodeReadyUnknown, message, since);
};

/** An unhealthy or unknown condition of a node. */
interface NodeIssue {
  readonly type: string;
  readonly status: "bad" | "unknown";
  readonly text: string;
}

function issueOf(type: string, condition: NodeCondition | undefined): NodeIssue | undefined {
  if (condition === undefined) return { type, status: "unknown", text: unreported };
  const good = type === nodeConditionTypes.ready ? "True" : "False";
  if (condition.status === good) return undefined;
  const { message = "" } = condition;
  const text = message === "" ? `Condition is ${condition.status}` : cutText(message);
  return { type, status: condition.status === "Unknown" ? "unknown" : "bad", text };
}

/** The conditions that make this machine unhealthy, besides the kubelet's own, as the machine or the configuration names them. */
const listedTypes = ({ machine, settings }: MachineFacts): readonly string[] =>
  machine.spec.nodeConditions?.split(",") ?? settings.nodeConditions;

const linesOf = (issues: readonly NodeIssue[], standard: readonly string[]): string => {
  const texts = new Set(issues.map(({ text }) => text));
  const isAll = standard.every((type) => issues.some((issue) => issue.type === type));
  if (isAll && texts.size === 1) return `* Node.AllConditions: ${[...texts].join("")}`;
  return issues.map(({ type, text }) => `* Node.${type}: ${text}`).join("\n");
};

/**
 * Whether the node is healthy: Ready, the pressures, and the conditions that the machine lists. Listed conditions that are not reported
 * are ignored, because not every node has a component that reports them. Absent without a target cluster.
 */
export const nodeHealthy: ConditionOf = (facts) => {
  if (!facts.hasTarget) return undefined;
  const without = withoutNode(facts);
  if (without !== undefined) return { type: types.nodeHealthy, ...without };
  const conditions = nodeConditionsOf(facts);
  const standard: readonly string[] = [nodeConditionTypes.ready, ...pressures];
  const listed = listedTypes(facts).filter(
    (type) => !standard.includes(type) && findCondition(conditions, type) !== undefined,
  );
  const issues = [...standard, ...new Set(listed)]
    .map((type) => issueOf(type, findCondition(conditions, type)))
    .filter((issue) => issue !== undefined);
  const since = findCondition(conditions, nodeConditionTypes.ready)?.lastTransitionTime;
  if (issues.length === 0) return newCondition(types.nodeHealthy, "True", reasons.nodeHealthy, "", since);
  const message = linesOf(issues, standard);
  return issues.some(({ status }) => status === "bad")
    ? newCondition(types.nodeHealthy, "False", reasons.nodeNotHealthy, message, since)
    : newCondition(types.nodeHealthy, "Unknown", reasons.nodeHealthyUnknown, message, since);
};
