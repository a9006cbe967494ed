import { apiTime } from "@millwright/kube";
import { namespaceOf, type StoredObject } from "../objects/stored-object.ts";
import { crdCleanupFinalizer } from "../crd/crd-pipeline.ts";
import { definitionsOf } from "../crd/definitions-of.ts";
import { at, jsonEqual, type JsonObject, objectAt, withField } from "../json/json.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { isTrue, withCondition } from "../objects/conditions.ts";
import { deleteObject } from "../verbs/delete.ts";
import { commit, updateObject } from "../verbs/update.ts";
import { createDeferredRun } from "./deferred-run.ts";

const crdCollection = "customresourcedefinitions.apiextensions.k8s.io";

/**
 * Updates the registry at once with each change of a CRD, and deletes the objects of a CRD that is being deleted before its
 * finalizer is removed.
 */
export function runCrdController(context: ServerContext): () => void {
  const { store, registry } = context;
  for (const crd of store.list(crdCollection)) registry.setCustom(crd.metadata.name, definitionsOf(crd));

  const establish = createDeferredRun(() => {
    for (const crd of store.list(crdCollection)) acceptNames(context, crd);
  });
  const cleanUp = createDeferredRun(() => {
    const crdKind = registry.findKind("apiextensions.k8s.io", "CustomResourceDefinition");
    for (const crd of store.list(crdCollection)) {
      const finalizers = crd.metadata.finalizers ?? [];
      const [definition] = definitionsOf(crd);
      if (crd.metadata.deletionTimestamp === undefined || !finalizers.includes(crdCleanupFinalizer)) continue;
      const objects = definition === undefined ? [] : store.list(definition.collection);
      for (const object of objects) {
        if (definition === undefined || object.metadata.deletionTimestamp !== undefined) continue;
        const ref = { namespace: namespaceOf(object), name: object.metadata.name };
        deleteObject(context, definition, ref, backgroundDeletion);
      }
      const isEmpty = definition === undefined || store.list(definition.collection).length === 0;
      if (!isEmpty || crdKind === undefined) continue;
      const left = finalizers.filter((finalizer) => finalizer !== crdCleanupFinalizer);
      commit(context, crdKind, crd, withField(crd, ["metadata", "finalizers"], left));
    }
  });

  const terminatingCollections = (): boolean =>
    store.list(crdCollection).some((crd) => crd.metadata.deletionTimestamp !== undefined);
  const unsubscribeCrds = store.subscribe(crdCollection, ({ type, object }) => {
    registry.setCustom(object.metadata.name, type === "DELETED" ? [] : definitionsOf(object));
    if (type === "DELETED") return;
    if (object.metadata.deletionTimestamp === undefined) establish.schedule();
    else cleanUp.schedule();
  });
  const unsubscribe = store.subscribe(undefined, ({ type }) => {
    if (type === "DELETED" && terminatingCollections()) cleanUp.schedule();
  });
  if (terminatingCollections()) cleanUp.schedule();
  establish.schedule();
  return () => {
    unsubscribeCrds();
    unsubscribe();
    cleanUp.stop();
    establish.stop();
  };
}

/**
 * Accepts the names of a CRD and marks it Established, in the two steps of kube-apiserver's controllers. Its resources are
 * served as soon as it is stored.
 */
function acceptNames(context: ServerContext, crd: StoredObject): void {
  const crdKind = context.registry.findKind("apiextensions.k8s.io", "CustomResourceDefinition");
  if (crdKind === undefined || crd.metadata.deletionTimestamp !== undefined) return;
  const names = objectAt(crd, "spec", "names");
  if (isTrue(crd, "Established") && jsonEqual(at(crd, "status", "acceptedNames"), names)) return;
  const now = apiTime(context.clock.now());
  const write = (change: (live: JsonObject) => JsonObject): void => {
    const ref = { namespace: "", name: crd.metadata.name };
    updateObject(context, crdKind, { ref, subresource: "status", options: serverOptions, change });
  };
  const named = "the initial names have been accepted";
  write((live) => {
    const accepted = withField(live, ["status", "acceptedNames"], objectAt(live, "spec", "names"));
    const reason = { reason: "NoConflicts", message: "no conflicts found" };
    const namesAccepted = withCondition(accepted, { type: "NamesAccepted", status: "True", ...reason }, now);
    if (isTrue(live, "Established")) return namesAccepted;
    return withCondition(
      namesAccepted,
      { type: "Established", status: "False", reason: "Installing", message: named },
      now,
    );
  });
  write((live) =>
    withCondition(live, { type: "Established", status: "True", reason: "InitialNamesAccepted", message: named }, now),
  );
}

/** The options of other writes by the server's own controllers. */
export const serverOptions = {
  dryRun: false,
  fieldManager: "kube-apiserver",
  fieldValidation: "Ignore",
  force: false,
} as const;

/** The options of deletions by the server's own controllers. */
export const backgroundDeletion = {
  dryRun: false,
  propagation: "Background",
  gracePeriodSeconds: undefined,
  uid: undefined,
  resourceVersion: undefined,
} as const;
