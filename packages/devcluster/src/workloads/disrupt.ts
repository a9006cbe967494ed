import { apiTime } from "@millwright/kube";
import { arrayAt } from "../json/json.ts";
import { isTrue, withCondition } from "../objects/conditions.ts";
import type { Action, Item, ObjectEvent, View } from "./view.ts";

/** Sets the condition DisruptionTarget on a pod; a later reconcile that sees it deletes the pod. */
export function disrupt(
  view: View,
  pod: Item,
  why: { readonly reason: string; readonly message: string },
  end: Action,
  events: readonly ObjectEvent[] = [],
): readonly Action[] {
  if (isTrue(pod, "DisruptionTarget")) return [end];
  const marked = withCondition(pod, { type: "DisruptionTarget", status: "True", ...why }, apiTime(view.now));
  const conditions = arrayAt(marked, "status", "conditions");
  return [{ do: "patch", kind: "pods", item: pod, patch: { status: { conditions } }, subresource: "status", events }];
}
