import { apiTime } from "@millwright/kube";
import type { StoredObject } from "../objects/stored-object.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { decodeObject } from "../resources/decode-object.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { find, type ServerContext, type ObjectRef, shown } from "../resources/server-context.ts";
import { required } from "../errors/field-errors.ts";
import { badRequest, conflict, invalid, notFound } from "../errors/status-error.ts";
import { admit, completed } from "./admit.ts";
import { newObject } from "./create.ts";
import { checkIdentity, requireNameInBody } from "./metadata-rules.ts";
import { plainText } from "../json/quoting.ts";
import type { Outcome } from "./outcome.ts";
import { updateObject } from "./update.ts";
import type { WriteOptions } from "../request/write-options.ts";
import { conflictError, conflictingFields, findConflicts } from "../managed-fields/conflicts.ts";
import { difference, emptySet, type FieldSet, intersection, sameSet, union } from "../managed-fields/field-set.ts";
import { changedFields, fieldTreeOf, withContainers } from "../managed-fields/field-tree.ts";
import {
  isSameManager,
  type ManagerEntry,
  readManagers,
  type TrackedWrite,
  withManagers,
} from "../managed-fields/managed-fields.ts";
import { applyConfiguration } from "../managed-fields/merge-applied.ts";
import { checkTyped } from "../managed-fields/typed-patch.ts";

/** A server-side apply: the query's field manager (empty when it has none) and the subresource. */
export interface ApplyOptions extends WriteOptions {
  readonly manager: string;
  readonly subresource: string;
}

/**
 * Server-side apply: merges the configuration into the object and makes its manager the owner of the fields in it. Removes
 * fields that only this manager owned and that the configuration dropped. A field that another manager owns with another value
 * is a conflict (409), unless `force` takes it over. Creates a missing object.
 */
export function applyObject(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  body: Json | undefined,
  options: ApplyOptions,
): Outcome {
  const applied = readConfiguration(definition, ref, body, options);
  const live = find(context, definition, ref);
  const write: TrackedWrite = {
    manager: options.manager,
    operation: "Apply",
    subresource: options.subresource,
    apiVersion: apiVersionOf(definition),
    time: apiTime(context.clock.now()),
  };
  if (live === undefined) {
    if (options.subresource !== "") throw notFound(definition, ref.name);
    const uid = stringAt(applied, "metadata", "uid");
    if (uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(definition, ref.name, why);
    }
    return createApplied(context, definition, ref, applied, write, options);
  }
  const state = shown(definition, live);
  const plan = planApply(definition, state, applied, write, options.force);
  return updateObject(context, definition, {
    ref,
    subresource: options.subresource,
    options,
    change: () => plan.object,
    track: (_live, next) => {
      const present = fieldTreeOf(next, definition.schema);
      const fields = intersection(plan.fields, present);
      // An apply that changes only the ownership keeps its time, as in Kubernetes.
      const time = isSameContent(live, next) ? (plan.mine?.time ?? "") : write.time;
      const others = plan.others.map((entry) => ({ ...entry, fields: intersection(entry.fields, present) }));
      return withManagers(next, [...others, { ...write, time, fields }]);
    },
  });
}

interface ApplyPlan {
  readonly object: JsonObject;
  /** The fields that the manager owns afterwards. */
  readonly fields: FieldSet;
  readonly mine: ManagerEntry | undefined;
  readonly others: readonly ManagerEntry[];
}

function planApply(
  definition: ResourceDefinition,
  live: JsonObject,
  applied: JsonObject,
  write: TrackedWrite,
  force: boolean,
): ApplyPlan {
  const { schema } = definition;
  const known = readManagers(live);
  // Fields that were written without a record get an owner, or the first apply would take them over silently.
  const managers = known.length > 0 ? known : [beforeFirstApply(definition, live, write)];
  const mine = managers.find((entry) => isSameManager(entry, write));
  const others = managers.filter((entry) => entry !== mine);
  const fields = fieldTreeOf(applied, schema);
  const conflicts = findConflicts(changedFields(fieldTreeOf(live, schema), fields), others);
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);
  const taken = conflictingFields(conflicts);
  const remaining = others.map((entry) => ({ ...entry, fields: difference(entry.fields, taken) }));
  const kept = remaining.reduce((set, entry) => union(set, entry.fields), union(emptySet, fields));
  const dropped = difference(mine?.fields ?? emptySet, kept);
  return { object: applyConfiguration(live, applied, schema, dropped, kept), fields, mine, others: remaining };
}

function beforeFirstApply(definition: ResourceDefinition, live: JsonObject, write: TrackedWrite): ManagerEntry {
  const fields = withContainers(fieldTreeOf(live, definition.schema), definition.origin);
  return { ...write, manager: "before-first-apply", operation: "Update", subresource: "", fields };
}

function createApplied(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  applied: JsonObject,
  write: TrackedWrite,
  options: ApplyOptions,
): Outcome {
  const candidate = newObject(context, definition, ref.namespace, decodeObject(definition, applied).object);
  const inStore = definition.view === undefined ? candidate : definition.view.store(candidate);
  const { object, warnings } = admit(definition, inStore, undefined, options, []);
  const present = fieldTreeOf(object, definition.schema);
  const fields = intersection(fieldTreeOf(applied, definition.schema), present);
  const tracked = completed(definition, withManagers(object, [{ ...write, fields }]));
  const stored = options.dryRun ? tracked : context.store.put(definition.collection, tracked);
  return { code: 201, body: shown(definition, stored), warnings };
}

function readConfiguration(
  definition: ResourceDefinition,
  ref: ObjectRef,
  body: Json | undefined,
  { manager, subresource }: ApplyOptions,
): JsonObject {
  if (!isObject(body)) throw badRequest("the body of an apply must be an object");
  if (manager === "") {
    throw invalid({ group: "meta.k8s.io", plural: "patchoptions", kind: "PatchOptions" }, "", [
      required("fieldManager", "is required for apply patch"),
    ]);
  }
  const apiVersion = plainText(body["apiVersion"] ?? "");
  const kind = plainText(body["kind"] ?? "");
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw badRequest(`invalid object type: ${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`);
  }
  requireNameInBody(body, ref.name);
  const checked = checkIdentity(definition, body, ref);
  const metadata = objectAt(checked, "metadata");
  if (metadata["managedFields"] !== undefined) throw badRequest("metadata.managedFields must be nil");
  const name = stringAt(metadata, "name") || ref.name;
  checkTyped(definition, checked, stringAt(metadata, "namespace") ?? "", name);
  const { status, ...main } = checked;
  const identified = { ...metadata, name, ...(definition.namespaced ? { namespace: ref.namespace } : {}) };
  if (subresource === "status") {
    return { apiVersion, kind, metadata: { name }, ...(status === undefined ? {} : { status }) };
  }
  const takesStatus = definition.subresources.status !== true && status !== undefined;
  return { ...main, metadata: identified, ...(takesStatus ? { status } : {}) };
}

function isSameContent(live: StoredObject, next: JsonObject): boolean {
  const schema = { type: "object" };
  const before = fieldTreeOf(live, schema);
  const after = fieldTreeOf(next, schema);
  return sameSet(changedFields(before, after), emptySet) && sameSet(before, after);
}
