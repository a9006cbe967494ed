import { eventReasons, ignoredRequest } from "@millwright/core/machine-api";
import {
  type ApiObject,
  type Controller,
  createController,
  keyOf,
  objectFields,
  watchTriggers,
} from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";

/** The annotations of an object that request something of Cluster API, and have no effect here, with the reason. */
function ignoredOn({ metadata }: ApiObject): ReadonlyMap<string, string> {
  const found = Object.keys(metadata.annotations ?? {}).map((key) => [key, ignoredRequest(key)] as const);
  return new Map(found.flatMap(([key, message]) => (message === undefined ? [] : [[key, message] as const])));
}

/**
 * Makes the controller that reports annotations of Cluster API that have no effect, once for each object and key: our objects have its conditions, so a person may expect its hooks and pauses, too, and
 * learn of the mistake when the VM is gone.
 */
export function createForeignAnnotationController(context: ControllerContext): Controller {
  const { caches, namespace, clock, random, log, events } = context;
  const followed = {
    Machine: caches.machines,
    MachineSet: caches.sets,
    MachineDeployment: caches.deployments,
    MachineClass: caches.classes,
  };
  const kinds = Object.entries(followed);
  /** Keys of annotations by the UID of the object. */
  const reported = new Map<string, ReadonlySet<string>>();

  const controller = createController({
    name: "foreign-annotations",
    workers: 1,
    waitFor: Object.values(followed),
    allKeys: () =>
      kinds.flatMap(([kind, { store }]) =>
        store
          .list(namespace)
          .filter((object) => ignoredOn(object).size > 0)
          .map((object) => `${kind}/${keyOf(object)}`),
      ),
    clock,
    random,
    log,
    reconcile: async (key) => {
      const [kind = "", ...rest] = key.split("/");
      const object: ApiObject | undefined = kinds.find(([each]) => each === kind)?.[1].store.get(rest.join("/"));
      if (object === undefined) return { done: true };
      const ignored = ignoredOn(object);
      const before = reported.get(object.metadata.uid ?? "");
      for (const [annotation, message] of ignored) {
        if (before?.has(annotation) === true) continue;
        events.record(object, { type: "Warning", reason: eventReasons.annotationIgnored, message });
        log("warn", eventReasons.annotationIgnored, { ...objectFields(object), because: message });
      }
      reported.set(object.metadata.uid ?? "", new Set(ignored.keys()));
      return { done: true };
    },
  });

  for (const [kind, { store }] of kinds) {
    watchTriggers<ApiObject>({
      store,
      controller,
      when: (old, current) =>
        current !== undefined &&
        old?.metadata.annotations !== current.metadata.annotations &&
        (ignoredOn(current).size > 0 || reported.has(current.metadata.uid ?? "")),
      keys: (object) => [`${kind}/${keyOf(object)}`],
    });
    store.subscribe((old, current) => {
      const uid = old?.metadata.uid;
      if (uid !== undefined && uid !== current?.metadata.uid) reported.delete(uid);
    });
  }
  return controller;
}
