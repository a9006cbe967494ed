import type { PreparedObject, StoredObject } from "../objects/stored-object.ts";
import { arrayAt, field, isArray, isObject, jsonEqual, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import {
  decodeFieldSet,
  difference,
  emptySet,
  encodeFieldSet,
  type FieldSet,
  isEmptySet,
  sameSet,
  union,
} from "./field-set.ts";
import { changedFields, fieldTreeOf, withContainers } from "./field-tree.ts";

/** One entry of `metadata.managedFields` without its fields: the manager, the operation and the time. */
export interface TrackedWrite {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly apiVersion: string;
  /** RFC 3339. */
  readonly time: string;
}

/** An entry of `metadata.managedFields` with its parsed fields. */
export interface ManagerEntry extends TrackedWrite {
  readonly fields: FieldSet;
}

/** More Update managers are merged into one, as in kube-apiserver, to bound the size of objects. */
const updateManagerLimit = 10;
const mergedManager = "ancient-changes";

/** Reads `metadata.managedFields`; entries that cannot be read are dropped. */
export function readManagers(object: JsonObject | undefined): readonly ManagerEntry[] {
  return arrayAt(object, "metadata", "managedFields").flatMap((entry): ManagerEntry[] => {
    const operation = stringAt(entry, "operation");
    if (!isObject(entry) || (operation !== "Apply" && operation !== "Update")) return [];
    return [
      {
        manager: stringAt(entry, "manager") ?? "",
        operation,
        subresource: stringAt(entry, "subresource") ?? "",
        apiVersion: stringAt(entry, "apiVersion") ?? "",
        time: stringAt(entry, "time") ?? "",
        fields: decodeFieldSet(field(entry, "fieldsV1")),
      },
    ];
  });
}

/** Writes `metadata.managedFields`; managers without fields are left out. */
export function withManagers<T extends JsonObject>(object: T, managers: readonly ManagerEntry[]): T {
  const entries = managers
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted(byOperationAndTime)
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === "" ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: encodeFieldSet(fields),
      ...(subresource === "" ? {} : { subresource }),
    }));
  const { managedFields: _old, ...metadata } = objectAt(object, "metadata");
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } };
}

/** Kubernetes' order of the entries, which does not depend on the last writer. */
function byOperationAndTime(a: ManagerEntry, b: ManagerEntry): number {
  const key = ({ operation, time, manager, apiVersion, subresource }: ManagerEntry): string =>
    [operation, time, manager, apiVersion, subresource].join("\u0000");
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}

/** Whether a write belongs to an entry. */
export function isSameManager(entry: ManagerEntry, write: TrackedWrite): boolean {
  return (
    entry.manager === write.manager && entry.operation === write.operation && entry.subresource === write.subresource
  );
}

/**
 * Records an ordinary write: its author owns what it changed, all other managers lose that, and deleted fields have no owner. A
 * client that sends managedFields (as kubectl does when it moves to server-side apply) first replaces the record.
 */
export function trackManagedFields(
  definition: ResourceDefinition,
  live: StoredObject | undefined,
  object: PreparedObject,
  write: TrackedWrite,
): PreparedObject {
  const sent = objectAt(object, "metadata")["managedFields"];
  const managers = isArray(sent) ? readManagers(object) : readManagers(live);
  // An update does not start a record for an object that has none; the first apply does.
  if (live !== undefined && managers.length === 0) return withManagers(object, []);
  const { schema } = definition;
  if (live !== undefined && sameContent(live, object)) {
    return isArray(sent) && jsonEqual(sent, live.metadata["managedFields"]) ? object : withManagers(object, managers);
  }
  const { origin } = definition;
  const before = live === undefined ? undefined : withContainers(fieldTreeOf(live, schema), origin);
  // The status is owned by the managers that write it through its subresource.
  const isMain = write.subresource === "" && definition.subresources.status === true;
  const { status: _status, ...main } = object;
  const after = withContainers(fieldTreeOf(isMain && live === undefined ? main : object, schema), origin);
  const changed = changedFields(before, after);
  const removed = before === undefined ? emptySet : difference(before, after);
  const lost = union(changed, removed);
  const others = managers
    .filter((entry) => !isSameManager(entry, write))
    .map((entry) => ({ ...entry, fields: difference(entry.fields, lost) }));
  const mine = managers.find((entry) => isSameManager(entry, write));
  const fields = union(difference(mine?.fields ?? emptySet, removed), changed);
  const time = mine !== undefined && isEmptySet(changed) && sameSet(mine.fields, fields) ? mine.time : write.time;
  return withManagers(object, mergeOldest([...others, { ...write, time, fields }]));
}

function sameContent(live: StoredObject, object: PreparedObject): boolean {
  const { metadata: a, ...restA } = live;
  const { metadata: b, ...restB } = object;
  const { managedFields: _a, ...metaA } = a;
  const { managedFields: _b, ...metaB } = objectAt({ metadata: b }, "metadata");
  return jsonEqual(restA, restB) && jsonEqual(metaA, metaB);
}

function mergeOldest(managers: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updates = managers.filter(({ operation, fields }) => operation === "Update" && !isEmptySet(fields));
  if (updates.length <= updateManagerLimit) return managers;
  const oldest = updates
    .toSorted((a, b) => (a.time < b.time ? -1 : 1))
    .slice(0, updates.length - updateManagerLimit + 1);
  const [first] = oldest;
  if (first === undefined) return managers;
  const fields = oldest.reduce((set, entry) => union(set, entry.fields), emptySet);
  const rest = managers.filter((entry) => !oldest.includes(entry));
  return [{ ...first, manager: mergedManager, subresource: "", fields }, ...rest];
}
