import { type ApiClient, type KubeObject, isAlreadyExists, isConflict, isNotFound } from "@millwright/kube";
import { isObject, type JsonObject } from "../json/json.ts";
import { resources, type ResourceKey } from "./watched-resources.ts";
import type { Action, Item, ObjectEvent } from "./view.ts";

/** Receives the results of writes, so that the next reconcile sees them, and the events about them. */
export interface Writes {
  applied(kind: ResourceKey, object: KubeObject): void;
  deleted(kind: ResourceKey, item: Item): void;
  record(event: ObjectEvent): void;
}

/**
 * Runs an action. A write that fails because another client has changed the object is not an error: the next reconcile decides
 * again. All patches carry the resourceVersion of the decision, so that no unseen change is overwritten.
 */
export async function runAction(api: ApiClient, action: Action, writes: Writes, signal: AbortSignal): Promise<void> {
  try {
    await attempt(api, action, writes, signal);
    for (const event of action.events ?? []) writes.record(event);
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) throw error;
  }
}

async function attempt(api: ApiClient, action: Action, writes: Writes, signal: AbortSignal): Promise<void> {
  switch (action.do) {
    case "record":
      return;
    case "create":
      writes.applied(action.kind, await api.create(resources[action.kind], asKubeObject(action.object), { signal }));
      return;
    case "bind": {
      const { name, namespace = "" } = action.pod.metadata;
      const target = { apiVersion: "v1", kind: "Node", name: action.nodeName };
      const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target };
      await api.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
        body: binding,
        signal,
      });
      // The response is not a pod. The pod is read, so that the next reconcile does not bind it again.
      writes.applied("pods", await api.get(resources.pods, { namespace, name }, { signal }));
      return;
    }
    case "patch": {
      const { name, namespace, resourceVersion } = action.item.metadata;
      const options = {
        kind: "merge",
        signal,
        ...(action.subresource === undefined ? {} : { subresource: action.subresource }),
        ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
      } as const;
      writes.applied(action.kind, await api.patch(resources[action.kind], { namespace, name }, action.patch, options));
      return;
    }
    case "delete": {
      const { name, namespace, uid } = action.item.metadata;
      const grace = action.graceSeconds === undefined ? {} : { gracePeriodSeconds: action.graceSeconds };
      const deleted: unknown = await api.delete(resources[action.kind], { namespace, name }, { uid, signal, ...grace });
      if (action.graceSeconds === 0) writes.deleted(action.kind, action.item);
      else if (isDeletingObject(deleted)) writes.applied(action.kind, deleted);
      return;
    }
  }
}

function asKubeObject(object: JsonObject): KubeObject {
  const metadata = object["metadata"];
  return { ...object, metadata: isObject(metadata) ? { ...metadata } : {} };
}

function isDeletingObject(value: unknown): value is KubeObject {
  return isObject(value) && isObject(value["metadata"]) && value["metadata"]["deletionTimestamp"] !== undefined;
}
