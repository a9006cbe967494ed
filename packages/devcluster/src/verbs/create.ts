import { apiTime } from "@millwright/kube";
import type { StoredObject } from "../objects/stored-object.ts";
import { trackManagedFields } from "../managed-fields/managed-fields.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import { decodeObject } from "../resources/decode-object.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { type ServerContext, shown } from "../resources/server-context.ts";
import { isTrue } from "../objects/conditions.ts";
import { alreadyExists, forbidden, notFound } from "../errors/status-error.ts";
import { admit, completed } from "./admit.ts";
import { checkIdentity, rejectVersionOnCreate } from "./metadata-rules.ts";
import type { Outcome } from "./outcome.ts";
import type { WriteOptions } from "../request/write-options.ts";

/** Kubernetes truncates the base of a generated name so that name and suffix fit a label. */
const generatedBaseLimit = 58;
const generateAttempts = 8;

/** Creates an object, with its own name or a generated one. */
export function createObject(
  context: ServerContext,
  definition: ResourceDefinition,
  namespace: string,
  body: Json | undefined,
  options: WriteOptions,
): Outcome {
  const { object: sent, unknown } = decodeObject(definition, checkIdentity(definition, body, { namespace }));
  rejectVersionOnCreate(sent);
  requireActiveCrd(context, definition, stringAt(sent, "metadata", "name") ?? "");
  requireNamespace(context, definition, namespace, stringAt(sent, "metadata", "name") ?? "");
  const candidate = newObject(context, definition, namespace, sent);
  const inStore = definition.view === undefined ? candidate : definition.view.store(candidate);
  const { object, warnings } = admit(definition, inStore, undefined, options, unknown);
  const { store } = context;
  const present = store.get(definition.collection, namespace, object.metadata.name);
  if (present !== undefined) throw alreadyExists(definition, object.metadata.name, isBeingDeleted(present));
  const tracked = completed(
    definition,
    trackManagedFields(definition, undefined, object, {
      manager: options.fieldManager,
      operation: "Update",
      subresource: "",
      apiVersion: apiVersionOf(definition),
      time: apiTime(context.clock.now()),
    }),
  );
  const stored = options.dryRun ? tracked : store.put(definition.collection, tracked);
  return { code: 201, body: shown(definition, stored), warnings };
}

/** Throws when the CRD of a new object is being deleted. */
function requireActiveCrd({ store }: ServerContext, definition: ResourceDefinition, name: string): void {
  const { plural, group } = definition;
  const crd = store.get("customresourcedefinitions.apiextensions.k8s.io", "", `${plural}.${group}`);
  if (isTrue(crd, "Terminating"))
    throw forbidden(definition, name, "create not allowed while custom resource definition is terminating");
}

/** Throws when the namespace of a new object is missing or being deleted. */
export function requireNamespace(
  { store }: ServerContext,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
): void {
  if (!definition.namespaced) return;
  const found = store.get("namespaces.", "", namespace);
  if (found === undefined) throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(definition, name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}

/** The object with the metadata that the server sets; fields that clients may not set are dropped. */
export function newObject(
  context: ServerContext,
  definition: ResourceDefinition,
  namespace: string,
  sent: JsonObject,
): JsonObject {
  const { clock, random } = context;
  const {
    resourceVersion: _version,
    deletionTimestamp: _deletion,
    deletionGracePeriodSeconds: _grace,
    selfLink: _link,
    managedFields: _managed,
    generation,
    ...metadata
  } = objectAt(sent, "metadata");
  const { status, ...rest } = sent;
  const keepsStatus = definition.keepsStatusOnCreate || definition.subresources.status !== true;
  return {
    ...rest,
    metadata: {
      ...metadata,
      name: nameFor(context, definition, namespace, metadata),
      ...(definition.namespaced ? { namespace } : {}),
      uid: random.uuid(),
      creationTimestamp: apiTime(clock.now()),
      ...(definition.countsGeneration ? { generation: 1 } : generation === undefined ? {} : { generation }),
    },
    ...(status === undefined || !keepsStatus ? {} : { status }),
  };
}

function nameFor(
  { store, random }: ServerContext,
  definition: ResourceDefinition,
  namespace: string,
  metadata: JsonObject,
): string {
  const name = stringAt(metadata, "name");
  const base = stringAt(metadata, "generateName");
  if (name || !base) return name ?? "";
  let generated = "";
  for (let attempt = 0; attempt < generateAttempts; attempt += 1) {
    generated = `${base.slice(0, generatedBaseLimit)}${random.suffix(5)}`;
    if (store.get(definition.collection, namespace, generated) === undefined) break;
  }
  return generated;
}

function isBeingDeleted({ metadata }: StoredObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
