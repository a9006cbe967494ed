import { arrayAt, field, type Json, stringAt } from "../json/json.ts";
import { isTrue } from "../objects/conditions.ts";

/** The first taint that these tolerations do not tolerate; undefined when there is none. */
export function repellingTaint(taints: readonly Json[], tolerations: readonly Json[]): Json | undefined {
  return taints.find(
    (taint) => field(taint, "effect") !== "PreferNoSchedule" && !tolerations.some((one) => tolerates(one, taint)),
  );
}

/** Whether a toleration tolerates a taint. Source: Kubernetes documentation, "Taints and Tolerations". */
export function tolerates(toleration: Json, taint: Json): boolean {
  const effect = stringAt(toleration, "effect") ?? "";
  const key = stringAt(toleration, "key") ?? "";
  if (effect !== "" && effect !== field(taint, "effect")) return false;
  if (key !== "" && key !== field(taint, "key")) return false;
  if (stringAt(toleration, "operator") === "Exists") return true;
  return key !== "" && (stringAt(toleration, "value") ?? "") === (stringAt(taint, "value") ?? "");
}

/** The taints of a node whose kubelet reports not ready, and of one without heartbeats. */
export const notReadyTaint = "node.kubernetes.io/not-ready";
export const unreachableTaint = "node.kubernetes.io/unreachable";
/**
 * A user confirms with it that a node is shut down, so that its pods and volumes may be removed without its kubelet.
 */
export const outOfServiceTaint = "node.kubernetes.io/out-of-service";

/** The taints of a node, including those for cordoned and not ready that are not written yet. */
export function taintsOf(node: Json): readonly Json[] {
  const taints = arrayAt(node, "spec", "taints");
  const isCordoned = field(field(node, "spec"), "unschedulable") === true;
  const implied = [
    ...(isCordoned ? [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] : []),
    ...(isTrue(node, "Ready") ? [] : [{ key: notReadyTaint, effect: "NoSchedule" }]),
  ];
  return [...taints, ...implied.filter(({ key }) => !taints.some((taint) => field(taint, "key") === key))];
}
