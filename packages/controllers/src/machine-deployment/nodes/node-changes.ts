import { nodeConditionTypes } from "@millwright/core";
import { equalJson } from "@millwright/kube";
import type { Node } from "../../model/node-objects.ts";
import { conditionOf } from "../../model/node-condition.ts";

/** Whether a deployment has to look at a node again: at what it writes there, and at how far an update in place is. Heartbeats are none of it. */
export const isRelevantNodeChange = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  !equalJson(old.spec, current.spec) ||
  !equalJson(old.metadata.labels, current.metadata.labels) ||
  !equalJson(old.metadata.annotations, current.metadata.annotations) ||
  conditionOf(old, nodeConditionTypes.inPlaceUpdate)?.reason !==
    conditionOf(current, nodeConditionTypes.inPlaceUpdate)?.reason;
