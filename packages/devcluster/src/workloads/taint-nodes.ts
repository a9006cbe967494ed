import { apiTime } from "@millwright/kube";
import { arrayAt, field, type Json, jsonEqual, type JsonObject, stringAt } from "../json/json.ts";
import { conditionOf } from "../objects/conditions.ts";
import { notReadyTaint, unreachableTaint } from "./taints.ts";
import { type Action, isDeleting, nodeEvent, type View } from "./view.ts";

const own: ReadonlySet<string> = new Set([notReadyTaint, unreachableTaint, "node.kubernetes.io/unschedulable"]);

/**
 * Maintains the taints for the state of a node: not ready, unreachable, cordoned. Like kube-controller-manager's node lifecycle
 * controller. Nodes that have never reported a status are ignored.
 */
export function taintNodes(view: View): readonly Action[] {
  return view.nodes.flatMap((node): readonly Action[] => {
    const ready = stringAt(conditionOf(node, "Ready"), "status");
    if (ready === undefined || isDeleting(node)) return [];
    const present = arrayAt(node, "spec", "taints");
    const state = ready === "True" ? undefined : ready === "False" ? notReadyTaint : unreachableTaint;
    const isCordoned = field(field(node, "spec"), "unschedulable") === true;
    const wanted = [
      ...(isCordoned ? [taint("node.kubernetes.io/unschedulable", "NoSchedule", view.now)] : []),
      ...(state === undefined ? [] : [taint(state, "NoSchedule", view.now), taint(state, "NoExecute", view.now)]),
    ];
    const kept = present.filter((one) => !own.has(stringAt(one, "key") ?? "") || wanted.some(isSameAs(one)));
    const added = wanted.filter((one) => !present.some(isSameAs(one)));
    const taints = [...kept, ...added];
    if (jsonEqual(taints, present)) return [];
    const isNewState = state !== undefined && added.some(({ key }) => key === state);
    const events =
      isNewState && !present.some((one) => isState(one))
        ? [nodeEvent(node, "node-controller", "NodeNotReady", `Node ${node.metadata.name} status is now: NodeNotReady`)]
        : [];
    return [{ do: "patch", kind: "nodes", item: node, patch: { spec: { taints } }, events }];
  });
}

function taint(key: string, effect: string, now: Date): JsonObject {
  return { key, effect, timeAdded: apiTime(now) };
}

function isSameAs(taint: Json): (other: Json) => boolean {
  return (other) => field(other, "key") === field(taint, "key") && field(other, "effect") === field(taint, "effect");
}

function isState(taint: Json): boolean {
  const key = stringAt(taint, "key") ?? "";
  return key === notReadyTaint || key === unreachableTaint;
}
