import { arrayAt, field, type Json, stringAt } from "../json/json.ts";
import { isTrue } from "../objects/conditions.ts";
import { isDeleting, type Item } from "./view.ts";

/** Whether the containers of a pod have exited. */
export function isFinished(pod: Item): boolean {
  const phase = stringAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether a pod counts for its controller: neither finished nor terminating. */
export function isActive(pod: Item): boolean {
  return !isFinished(pod) && !isDeleting(pod);
}

export function isReady(pod: Item): boolean {
  return isActive(pod) && isTrue(pod, "Ready");
}

/** The node of a pod; empty when it is not bound. */
export function nodeNameOf(pod: Item): string {
  return stringAt(pod, "spec", "nodeName") ?? "";
}

/** The UID of an object's controller; empty when it has none. */
export function controllerUidOf(item: Item): string {
  const owner = arrayAt(item, "metadata", "ownerReferences").find(
    (reference: Json) => field(reference, "controller") === true,
  );
  return stringAt(owner, "uid") ?? "";
}

/** The items that an object controls. */
export function controlledBy(owner: Item, items: readonly Item[]): readonly Item[] {
  return items.filter((item) => controllerUidOf(item) === owner.metadata.uid);
}
