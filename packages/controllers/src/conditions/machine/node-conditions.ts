import {
  clusterApiReasons as reasons,
  labelKeys,
  machineConditionTypes as types,
  type NodeCondition,
  nodeConditionTypes,
} from "@millwright/core";
import type { DerivedCondition } from "../derived-condition.ts";
import { cutText } from "../message-lines.ts";
import { findCondition } from "@millwright/kube";
import { isDeleting } from "../../model/phase.ts";
import {
  classKindOf,
  type ConditionOf,
  hadNode,
  isNodeGone,
  type MachineFacts,
  nodeConditionsOf,
  nodeOf,
  phaseSince,
  said,
} from "./facts.ts";

/** What every kubelet reports: a node that does not is not known to be healthy. */
const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

const unreported = "Condition not yet reported";

/** What NodeReady and NodeHealthy say alike as long as there are no conditions of a node to look at. */
function withoutNode(facts: MachineFacts): Omit<DerivedCondition, "type"> | undefined {
  const { machine, isTargetReachable } = facts;
  const name = machine.metadata.labels?.[labelKeys.node] ?? "";
  const { providerID = "" } = machine.spec;
  if (!isTargetReachable) {
    return {
      status: "Unknown",
      reason: reasons.connectionDown,
      message: "The API server of the nodes does not answer",
    };
  }
  const { type: _, ...gone } = said(
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
        ? `Waiting for ${classKindOf(facts)} to report spec.providerID`
        : `Waiting for a Node with spec.providerID ${cutText(providerID)} to exist`;
    return { status: "Unknown", reason: reasons.inspectionFailed, message };
  }
  return undefined;
}

/** Whether the kubelet says that its node is ready. Absent where there is no cluster to join. */
export const nodeReady: ConditionOf = (facts) => {
  if (!facts.hasTarget) return undefined;
  const without = withoutNode(facts);
  if (without !== undefined) return { type: types.nodeReady, ...without };
  const ready = findCondition(nodeConditionsOf(facts), nodeConditionTypes.ready);
  const since = ready?.lastTransitionTime;
  if (ready?.status === "True") return said(types.nodeReady, "True", reasons.nodeReady, "", since);
  const text = ready === undefined ? unreported : (ready.message ?? "");
  const message = text === "" ? "" : `* Node.Ready: ${cutText(text)}`;
  return ready?.status === "False"
    ? said(types.nodeReady, "False", reasons.nodeNotReady, message, since)
    : said(types.nodeReady, "Unknown", reasons.nodeReadyUnknown, message, since);
};

/** A condition of a node that is not as it should be. */
interface Complaint {
  readonly type: string;
  readonly status: "bad" | "unknown";
  readonly text: string;
}

function complaintOf(type: string, condition: NodeCondition | undefined): Complaint | undefined {
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

const linesOf = (complaints: readonly Complaint[], standard: readonly string[]): string => {
  const texts = new Set(complaints.map(({ text }) => text));
  const isAll = standard.every((type) => complaints.some((complaint) => complaint.type === type));
  if (isAll && texts.size === 1) return `* Node.AllConditions: ${[...texts].join("")}`;
  return complaints.map(({ type, text }) => `* Node.${type}: ${text}`).join("\n");
};

/**
 * Whether all that is known of the node is good: Ready, the pressures, and the conditions that the machine lists. Of the latter those that nobody reports
 * are no trouble, for not every node has who reports them. Absent where there is no cluster to join.
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
  const complaints = [...standard, ...new Set(listed)]
    .map((type) => complaintOf(type, findCondition(conditions, type)))
    .filter((complaint) => complaint !== undefined);
  const since = findCondition(conditions, nodeConditionTypes.ready)?.lastTransitionTime;
  if (complaints.length === 0) return said(types.nodeHealthy, "True", reasons.nodeHealthy, "", since);
  const message = linesOf(complaints, standard);
  return complaints.some(({ status }) => status === "bad")
    ? said(types.nodeHealthy, "False", reasons.nodeNotHealthy, message, since)
    : said(types.nodeHealthy, "Unknown", reasons.nodeHealthyUnknown, message, since);
};
