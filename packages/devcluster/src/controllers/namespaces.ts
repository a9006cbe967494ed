import { namespaceOf, type StoredObject } from "../objects/stored-object.ts";
import { arrayAt, withField } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { createObject } from "../verbs/create.ts";
import { deleteObject } from "../verbs/delete.ts";
import { commit } from "../verbs/update.ts";
import { backgroundDeletion, serverOptions } from "./custom-resources.ts";
import { createDeferredRun } from "./deferred-run.ts";

const namespaces = "namespaces.";
const initialNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

/**
 * Creates the namespaces that every cluster starts with and the default ServiceAccount of each namespace, and deletes the
 * objects of namespaces that are being deleted before it removes their finalizer.
 */
export function runNamespaceController(context: ServerContext): () => void {
  const { store, registry } = context;
  const kind = registry.findKind("", "Namespace");
  const accounts = registry.findKind("", "ServiceAccount");
  if (kind === undefined || accounts === undefined) return () => {};

  const work = createDeferredRun(() => {
    for (const namespace of store.list(namespaces)) {
      if (namespace.metadata.deletionTimestamp === undefined) createServiceAccount(context, accounts, namespace);
      else emptyNamespace(context, kind, namespace);
    }
  });
  const hasTerminating = (): boolean =>
    store.list(namespaces).some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const unsubscribeNamespaces = store.subscribe(namespaces, () => work.schedule());
  const unsubscribe = store.subscribe(undefined, ({ type, object }) => {
    if (type === "DELETED" && object.metadata.namespace !== undefined && hasTerminating()) work.schedule();
  });
  for (const name of initialNamespaces) {
    if (store.get(namespaces, "", name) !== undefined) continue;
    createObject(context, kind, "", { apiVersion: "v1", kind: "Namespace", metadata: { name } }, serverOptions);
  }
  work.schedule();
  return () => {
    unsubscribeNamespaces();
    unsubscribe();
    work.stop();
  };
}

function createServiceAccount(context: ServerContext, accounts: ResourceDefinition, namespace: StoredObject): void {
  const { name } = namespace.metadata;
  if (context.store.get(accounts.collection, name, "default") !== undefined) return;
  createObject(context, accounts, name, { metadata: { name: "default" } }, serverOptions);
}

function emptyNamespace(context: ServerContext, kind: ResourceDefinition, namespace: StoredObject): void {
  const { store, registry } = context;
  const { name } = namespace.metadata;
  const byCollection = new Map(registry.all().map((definition) => [definition.collection, definition]));
  let left = 0;
  for (const [collection, definition] of byCollection) {
    if (!definition.namespaced) continue;
    for (const object of store.list(collection, name)) {
      if (object.metadata.deletionTimestamp === undefined) {
        deleteObject(
          context,
          definition,
          { namespace: namespaceOf(object), name: object.metadata.name },
          backgroundDeletion,
        );
      }
    }
    left += store.list(collection, name).length;
  }
  const finalizers = arrayAt(namespace, "spec", "finalizers");
  if (left > 0 || !finalizers.includes("kubernetes")) return;
  const kept = finalizers.filter((finalizer) => finalizer !== "kubernetes");
  commit(context, kind, namespace, withField(namespace, ["spec", "finalizers"], kept));
}
