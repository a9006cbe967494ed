import { arrayAt, field, type Json, stringAt } from "../json.ts";

/** The first taint that keeps pods with these tolerations off a node; undefined when none does. */
export function repellingTaint(taints: readonly Json[], tolerations: readonly Json[]): Json | undefined {
  return taints.find(
    (taint) => field(taint, "effect") !== "PreferNoSchedule" && !tolerations.some((one) => tolerates(one, taint)),
  );
}

/** Source: Kubernetes documentation, "Taints and Tolerations". */
function tolerates(toleration: Json, taint: Json): boolean {
  const effect = stringAt(toleration, "effect") ?? "";
  const key = stringAt(toleration, "key") ?? "";
  if (effect !== "" && effect !== field(taint, "effect")) return false;
  if (key !== "" && key !== field(taint, "key")) return false;
  if (stringAt(toleration, "operator") === "Exists") return true;
  return key !== "" && (stringAt(toleration, "value") ?? "") === (stringAt(taint, "value") ?? "");
}

/** The taints of a node, with the one that stands for being cordoned. */
export function taintsOf(node: Json): readonly Json[] {
  const taints = arrayAt(node, "spec", "taints");
  const isCordoned = field(field(node, "spec"), "unschedulable") === true;
  const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
  return isCordoned && !taints.some((taint) => field(taint, "key") === cordon.key) ? [...taints, cordon] : taints;
}
