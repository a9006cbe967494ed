import { arrayAt } from "../json/json.ts";
import { isTrue, withCondition } from "../objects/conditions.ts";
import { rfc3339 } from "../objects/timestamps.ts";
import type { Action, Item, Saying, View } from "./view.ts";

/** Notes on a pod why it is taken away, in its condition DisruptionTarget; the pass that sees the note takes it away. */
export function disrupt(
  view: View,
  pod: Item,
  why: { readonly reason: string; readonly message: string },
  end: Action,
  says: readonly Saying[] = [],
): readonly Action[] {
  if (isTrue(pod, "DisruptionTarget")) return [end];
  const marked = withCondition(pod, { type: "DisruptionTarget", status: "True", ...why }, rfc3339(view.now));
  const conditions = arrayAt(marked, "status", "conditions");
  return [{ do: "patch", kind: "pods", item: pod, patch: { status: { conditions } }, subresource: "status", says }];
}
