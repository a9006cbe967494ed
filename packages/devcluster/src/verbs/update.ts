import { apiTime } from "@millwright/kube";
import { plainText, quoted } from "../json/quoting.ts";
import { namespaceOf, type PreparedObject, type StoredObject } from "../objects/stored-object.ts";
import { type TrackedWrite, trackManagedFields } from "../managed-fields/managed-fields.ts";
import { arrayAt, jsonEqual, type JsonObject, objectAt, stringAt, withField } from "../json/json.ts";
import { decodeObject } from "../resources/decode-object.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { find, type ServerContext, type ObjectRef, shown } from "../resources/server-context.ts";
import { forbiddenValue, invalidValue } from "../errors/field-errors.ts";
import { StatusError, conflict, invalid, isStatusError, notFound } from "../errors/status-error.ts";
import { admit, completed } from "./admit.ts";
import { checkIdentity, requireNameInBody } from "./metadata-rules.ts";
import type { Outcome } from "./outcome.ts";
import type { WriteOptions } from "../request/write-options.ts";

/** A change of an existing object. */
export interface Update {
  readonly ref: ObjectRef;
  /** Empty for the object itself; `scale` changes the object as well and is recorded under its own name. */
  readonly subresource: string;
  readonly options: WriteOptions;
  /** Creates the desired object from the live one, as a client of the definition sees it. */
  readonly change: (live: JsonObject) => JsonObject;
  /** A PUT: custom resources require a resourceVersion in its body. */
  readonly isReplace?: boolean;
  /** Replaces managedFields, as server-side apply does. Default: record an Update. */
  readonly track?: (live: StoredObject, next: PreparedObject, write: TrackedWrite) => PreparedObject;
}

/** Updates an existing object: optimistic concurrency, separate status, generation, finalizers, validation. */
export function updateObject(context: ServerContext, definition: ResourceDefinition, update: Update): Outcome {
  const { ref, subresource, options } = update;
  const live = find(context, definition, ref);
  if (live === undefined) throw notFound(definition, ref.name);
  const changed = update.change(shown(definition, live));
  const isPatch = update.isReplace !== true && update.track === undefined;
  const { object: wanted, unknown } = readable(isPatch, () =>
    decodeObject(definition, checkIdentity(definition, changed, ref)),
  );
  if (update.isReplace === true && subresource === "") requireNameInBody(wanted, ref.name);
  checkPreconditions(definition, live, wanted, update);
  const inStore = definition.view === undefined ? wanted : definition.view.store(wanted);
  const merged = mergeScopes(definition, live, inStore, subresource);
  rejectNewFinalizers(definition, live, merged);
  const { object, warnings } = readable(isPatch, () =>
    admit(definition, merged, live, options, unknown, subresource === "status" ? "status" : "all"),
  );
  const write: TrackedWrite = {
    manager: options.fieldManager,
    operation: "Update",
    subresource,
    apiVersion: apiVersionOf(definition),
    // Kubernetes records no time for a change of the scale.
    time: subresource === "scale" ? "" : apiTime(context.clock.now()),
  };
  const trackUpdate = (before: StoredObject, after: PreparedObject): PreparedObject =>
    trackManagedFields(definition, before, after, write);
  const tracked = (update.track ?? trackUpdate)(live, object, write);
  const next = bumpGeneration(definition, live, completed(definition, tracked));
  const stored = options.dryRun ? next : commit(context, definition, live, next);
  return { code: 200, body: shown(definition, stored), warnings };
}

/**
 * A patch with an undecodable result is an invalid patch (422); the same as a body is a bad request (400). Unlike
 * kube-apiserver's message, this one does not contain the object, which may be a secret.
 */
function readable<T>(isPatch: boolean, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why =
      isPatch && isStatusError(error) ? /^[^:]* cannot be handled as an? [^:]*: (.*)$/s.exec(error.message) : null;
    if (why === null) throw error;
    const nothing = { group: "", plural: "", kind: "" };
    throw invalid(nothing, "", [invalidValue("patch", "the patched object", `${why[1]}`)]);
  }
}

/** Writes a changed object, or deletes it when its last finalizer was removed. An unchanged one is not written. */
export function commit(
  { store }: ServerContext,
  definition: ResourceDefinition,
  live: StoredObject,
  next: JsonObject,
): JsonObject {
  if (jsonEqual(live, next)) return live;
  const { name, uid, creationTimestamp } = live.metadata;
  const metadata = { ...objectAt(next, "metadata"), name, uid, creationTimestamp };
  const prepared = { ...next, apiVersion: plainText(next["apiVersion"]), kind: definition.kind, metadata };
  if (isRemovable(definition, prepared)) {
    // Watchers get the last state of the object, with its last finalizer.
    store.remove(definition.collection, namespaceOf(live), name, live);
    // The response has the last version that was stored; the DELETED event has a later one.
    return { ...prepared, metadata: { ...metadata, resourceVersion: live.metadata.resourceVersion } };
  }
  return store.put(definition.collection, prepared);
}

function isRemovable(definition: ResourceDefinition, object: JsonObject): boolean {
  const metadata = objectAt(object, "metadata");
  if (metadata["deletionTimestamp"] === undefined || arrayAt(metadata, "finalizers").length > 0) return false;
  if (definition.collection === "namespaces.") return arrayAt(object, "spec", "finalizers").length === 0;
  return Number(metadata["deletionGracePeriodSeconds"] ?? 0) === 0;
}

function checkPreconditions(
  definition: ResourceDefinition,
  live: StoredObject,
  wanted: JsonObject,
  { isReplace = false, subresource }: Pick<Update, "isReplace" | "subresource">,
): void {
  const { name } = live.metadata;
  const uid = stringAt(wanted, "metadata", "uid");
  // A patch of the status of a custom resource is about whatever object has the name: kube-apiserver ignores all of its metadata.
  const isIgnored = !isReplace && subresource === "status" && definition.origin === "custom";
  if (uid && uid !== live.metadata.uid && !isIgnored) {
    if (!isReplace) {
      throw invalid(definition, name, [invalidValue("metadata.uid", uid, "field is immutable")]);
    }
    const place = `${definition.plural}/${namespaceOf(live) === "" ? "" : `${namespaceOf(live)}/`}${name}`;
    throw conflict(
      definition,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/${place}, ResourceVersion: 0, AdditionalErrorMsg: ` +
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
    );
  }
  const end = stringAt(wanted, "metadata", "deletionTimestamp");
  if (isReplace && end && end !== live.metadata.deletionTimestamp) {
    throw invalid(definition, name, [invalidValue("metadata.deletionTimestamp", end, "field is immutable")]);
  }
  const sent = stringAt(wanted, "metadata", "resourceVersion");
  const version = sent === "0" ? undefined : sent;
  if (version && !/^\d+$/.test(version)) {
    throw new StatusError(500, "", `strconv.ParseUint: parsing ${quoted(version)}: invalid syntax`);
  }
  if (version && version !== live.metadata.resourceVersion) throw conflict(definition, name);
  if (!version && isReplace && !definition.unconditionalUpdate) {
    // Only here, Kubernetes names the kind by its resource.
    throw invalid({ ...definition, kind: definition.plural }, name, [
      invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
}

/** The live object with what this endpoint may change: everything but the status, or the status alone. */
function mergeScopes(
  definition: ResourceDefinition,
  live: StoredObject,
  wanted: JsonObject,
  subresource: string,
): JsonObject {
  const { uid, creationTimestamp, resourceVersion, name } = live.metadata;
  const serverOwned: Record<string, JsonObject[string]> = { name, uid, creationTimestamp, resourceVersion };
  for (const key of ["namespace", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"]) {
    serverOwned[key] = live.metadata[key];
  }
  const metadata = withoutUndefined({ ...objectAt(wanted, "metadata"), ...serverOwned });
  if (subresource === "status") {
    const kept = definition.origin === "custom" ? live.metadata : metadata;
    const managedFields = objectAt(wanted, "metadata")["managedFields"];
    return withoutUndefined({
      ...live,
      apiVersion: wanted["apiVersion"],
      metadata: withoutUndefined({ ...kept, managedFields }),
      status: wanted["status"],
    });
  }
  if (subresource === "finalize") {
    const spec = { ...objectAt(live, "spec"), finalizers: arrayAt(wanted, "spec", "finalizers") };
    return { ...live, spec };
  }
  if (definition.collection === "namespaces.") {
    // The finalizers of a namespace change through their own subresource only.
    const spec = { ...objectAt(wanted, "spec"), finalizers: arrayAt(live, "spec", "finalizers") };
    return withoutUndefined({ ...wanted, metadata, spec, status: live["status"] });
  }
  if (definition.subresources.status !== true) return { ...wanted, metadata };
  return withoutUndefined({ ...wanted, metadata, status: live["status"] });
}

function rejectNewFinalizers(definition: ResourceDefinition, live: StoredObject, next: JsonObject): void {
  if (live.metadata.deletionTimestamp === undefined) return;
  const before = new Set<unknown>(live.metadata.finalizers);
  const added = arrayAt(next, "metadata", "finalizers").filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return;
  const names = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names}}`;
  throw invalid(definition, live.metadata.name, [forbiddenValue("metadata.finalizers", why)]);
}

function bumpGeneration(definition: ResourceDefinition, live: StoredObject, next: JsonObject): JsonObject {
  if (!definition.countsGeneration) return next;
  const { metadata: _a, status: _b, apiVersion: _c, ...before } = live;
  const { metadata: _d, status: _e, apiVersion: _f, ...after } = next;
  const unchanged =
    definition.subresources.status === true
      ? jsonEqual(before, after)
      : jsonEqual(before, after) && jsonEqual(live["status"], next["status"]);
  if (unchanged) return next;
  return withField(next, ["metadata", "generation"], (live.metadata.generation ?? 0) + 1);
}

function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
