import { namespaceOf } from "../api-object.ts";
import { crdCleanupFinalizer } from "../crd/crd-pipeline.ts";
import { definitionsOf } from "../crd/definitions-of.ts";
import { withField } from "../json.ts";
import type { Machinery } from "../machinery.ts";
import { deleteObject } from "../verbs/delete.ts";
import { commit } from "../verbs/update.ts";
import { createLater } from "./later.ts";

const crdCollection = "customresourcedefinitions.apiextensions.k8s.io";

/**
 * Keeps the registry equal to the stored CRDs, at once with each change, and empties a CRD that is being deleted before
 * it lets it go.
 */
export function serveCustomResources(machinery: Machinery): () => void {
  const { store, registry } = machinery;
  for (const crd of store.list(crdCollection)) registry.setCustom(crd.metadata.name, definitionsOf(crd));

  const cleanUp = createLater(() => {
    const crdKind = registry.findKind("apiextensions.k8s.io", "CustomResourceDefinition");
    for (const crd of store.list(crdCollection)) {
      const finalizers = crd.metadata.finalizers ?? [];
      const [definition] = definitionsOf(crd);
      if (crd.metadata.deletionTimestamp === undefined || !finalizers.includes(crdCleanupFinalizer)) continue;
      const objects = definition === undefined ? [] : store.list(definition.collection);
      for (const object of objects) {
        if (definition === undefined || object.metadata.deletionTimestamp !== undefined) continue;
        const ref = { namespace: namespaceOf(object), name: object.metadata.name };
        deleteObject(machinery, definition, ref, backgroundDeletion);
      }
      const isEmpty = definition === undefined || store.list(definition.collection).length === 0;
      if (!isEmpty || crdKind === undefined) continue;
      const left = finalizers.filter((finalizer) => finalizer !== crdCleanupFinalizer);
      commit(machinery, crdKind, crd, withField(crd, ["metadata", "finalizers"], left));
    }
  });

  const dyingCollections = (): boolean =>
    store.list(crdCollection).some((crd) => crd.metadata.deletionTimestamp !== undefined);
  const unsubscribeCrds = store.subscribe(crdCollection, ({ type, object }) => {
    registry.setCustom(object.metadata.name, type === "DELETED" ? [] : definitionsOf(object));
    if (type !== "DELETED" && object.metadata.deletionTimestamp !== undefined) cleanUp.ask();
  });
  const unsubscribe = store.subscribe(undefined, ({ type }) => {
    if (type === "DELETED" && dyingCollections()) cleanUp.ask();
  });
  if (dyingCollections()) cleanUp.ask();
  return () => {
    unsubscribeCrds();
    unsubscribe();
    cleanUp.stop();
  };
}

/** What the server's own controllers delete with. */
export const backgroundDeletion = {
  dryRun: false,
  propagation: "Background",
  gracePeriodSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
} as const;
