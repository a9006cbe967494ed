import { nodeConditionTypes } from "@millwright/core/machine-api";
import { equalJson } from "@millwright/kube";
import type { Node } from "../../model/node-objects.ts";
import { conditionOf } from "../../model/node-condition.ts";

/** Whether a change of a node concerns its deployment: the fields that it writes, and the progress of an in-place update, but not heartbeats. */
export const isRelevantNodeChange = (old: Node | undefined, current: Node | undefined): boolean =>
  old === undefined ||
  current === undefined ||
  !equalJson(old.spec, current.spec) ||
  !equalJson(old.metadata.labels, current.metadata.labels) ||
  !equalJson(old.metadata.annotations, current.metadata.annotations) ||
  conditionOf(old, nodeConditionTypes.inPlaceUpdate)?.reason !==
    conditionOf(current, nodeConditionTypes.inPlaceUpdate)?.reason;
