import { applyObject } from "../verbs/apply.ts";
import { isObject, type Json, type JsonObject, objectAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { find, type ServerContext, type ObjectRef, shown } from "../resources/server-context.ts";
import { applyPatchType, patched } from "../patch/apply-patch-body.ts";
import {
  badRequest,
  isStatusError,
  methodNotAllowed,
  notFound,
  unknownResource,
  unsupportedMediaType,
} from "../errors/status-error.ts";
import { bindPod } from "../verbs/bind.ts";
import { createObject, requireNamespace } from "../verbs/create.ts";
import { deleteObject, readDeleteOptions } from "../verbs/delete.ts";
import { evictPod } from "../verbs/eviction/evict.ts";
import { isWatch } from "../request/list-options.ts";
import { checkVersionOfGet, listPage, readSelectors } from "../verbs/list.ts";
import type { Outcome } from "../verbs/outcome.ts";
import { scaleOf, withScale } from "../verbs/scale.ts";
import { updateObject } from "../verbs/update.ts";
import { serveWatch } from "../verbs/watch.ts";
import { readWriteOptions, type WriteOptions } from "../request/write-options.ts";
import { type ApiRequest, mediaTypeOf, readJsonBody } from "./api-request.ts";
import { sendJson } from "./response.ts";
import { negotiate } from "../request/negotiation.ts";
import { sendList, sendOne } from "./represent.ts";
import type { ResourceRequest } from "../request/resource-path.ts";

/** Serves one request for a resource. */
export async function serveResource(
  context: ServerContext,
  definition: ResourceDefinition,
  path: ResourceRequest,
  request: ApiRequest,
): Promise<void> {
  const { method } = request;
  const scoped = { ...path, namespace: scopeOf(definition, path) };
  if (path.subresource !== undefined) return serveSubresource(context, definition, scoped, request);
  if (path.name === undefined) {
    switch (method) {
      case "GET":
        return isWatch(request.query)
          ? watch(context, definition, scoped, request)
          : list(context, definition, scoped, request);
      case "POST": {
        requireObjectType(request);
        if (definition.namespaced && scoped.namespace === undefined) throw methodNotAllowed();
        const body = await readJsonBody(request.raw);
        const options = optionsOf(request);
        return sendOutcome(
          context,
          definition,
          request,
          createObject(context, definition, scoped.namespace ?? "", body, options),
        );
      }
      case "DELETE":
        if (definition.namespaced && scoped.namespace === undefined) throw methodNotAllowed();
        // The one collection that Kubernetes cannot delete is that of all namespaces.
        if (definition.collection === "namespaces.") throw methodNotAllowed();
        return deleteCollection(context, definition, scoped, request);
      default:
        throw methodNotAllowed();
    }
  }
  const ref = { namespace: scoped.namespace ?? "", name: path.name };
  switch (method) {
    case "GET":
      // A watch of one object uses a field selector; at the path of the object, `watch` is ignored.
      return getOne(context, definition, ref, request);
    case "PUT":
    case "PATCH":
      return sendOutcome(context, definition, request, await write(context, definition, ref, "", request));
    case "DELETE": {
      const body = await readJsonBody(request.raw);
      const options = readDeleteOptions(body, request.query);
      return sendOutcome(context, definition, request, deleteObject(context, definition, ref, options));
    }
    default:
      throw methodNotAllowed();
  }
}

function scopeOf(definition: ResourceDefinition, path: ResourceRequest): string | undefined {
  if (!definition.namespaced && path.namespace !== undefined) throw unknownResource();
  if (definition.namespaced && path.namespace === undefined && path.name !== undefined) throw unknownResource();
  return path.namespace;
}

function optionsOf({ method, query, raw }: ApiRequest): WriteOptions {
  const isApply = mediaTypeOf(raw) === applyPatchType;
  const write = method === "POST" ? "Create" : method === "PUT" ? "Update" : isApply ? "Apply" : "Patch";
  return readWriteOptions(query, raw.headers["user-agent"], write);
}

const objectTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** Throws 415 for a body of an unsupported media type; a body without a type is taken for JSON. */
function requireObjectType({ raw }: ApiRequest): void {
  const mediaType = mediaTypeOf(raw);
  if (mediaType !== "" && !objectTypes.includes(mediaType)) throw unsupportedMediaType(objectTypes);
}

function includeOf({ query }: ApiRequest): "None" | "Metadata" | "Object" {
  const value = query.get("includeObject") ?? "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: "${value}": must be 'Metadata', 'Object', 'None', ` +
      "or empty",
  );
}

function getOne(context: ServerContext, definition: ResourceDefinition, ref: ObjectRef, request: ApiRequest): void {
  checkVersionOfGet(context, request.query.get("resourceVersion"));
  const object = find(context, definition, ref);
  if (object === undefined) throw notFound(definition, ref.name);
  sendOne(context, definition, request, 200, shown(definition, object), includeOf(request));
}

function list(
  context: ServerContext,
  definition: ResourceDefinition,
  path: ResourceRequest,
  request: ApiRequest,
): void {
  sendList(
    context,
    definition,
    request,
    listPage(context, definition, path.namespace, request.query),
    includeOf(request),
  );
}

function watch(
  context: ServerContext,
  definition: ResourceDefinition,
  path: ResourceRequest,
  request: ApiRequest,
): Promise<void> {
  const { query, response, signal, raw } = request;
  return serveWatch(
    context,
    {
      definition,
      namespace: path.namespace,
      name: path.name,
      query,
      representation: negotiate(raw.headers.accept),
      include: includeOf(request),
      openStream: () => request.openStream(),
    },
    response,
    signal,
  );
}

async function write(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  subresource: string,
  request: ApiRequest,
): Promise<Outcome> {
  const options = optionsOf(request);
  const body = await readJsonBody(request.raw);
  if (request.method === "PUT") {
    requireObjectType(request);
    if (!isObject(body)) throw badRequest("the body of the request must be a JSON object");
    return updateObject(context, definition, { ref, subresource, options, change: () => body, isReplace: true });
  }
  const mediaType = mediaTypeOf(request.raw);
  if (mediaType === applyPatchType) {
    if (subresource === "") requireNamespace(context, definition, ref.namespace, ref.name);
    return applyObject(context, definition, ref, body, {
      ...options,
      manager: request.query.get("fieldManager") ?? "",
      subresource,
    });
  }
  const change = (live: JsonObject): JsonObject => patched(definition, live, mediaType, body);
  return updateObject(context, definition, { ref, subresource, options, change });
}

async function serveSubresource(
  context: ServerContext,
  definition: ResourceDefinition,
  path: ResourceRequest,
  request: ApiRequest,
): Promise<void> {
  const { subresources } = definition;
  const { method } = request;
  const ref = { namespace: path.namespace ?? "", name: path.name ?? "" };
  switch (path.subresource ?? "") {
    case "status":
      if (subresources.status !== true) break;
      if (method === "GET") return getOne(context, definition, ref, request);
      if (method !== "PUT" && method !== "PATCH") throw methodNotAllowed();
      return sendOutcome(context, definition, request, await write(context, definition, ref, "status", request));
    case "finalize":
      if (subresources.finalize !== true) break;
      if (method !== "PUT") throw methodNotAllowed();
      return sendOutcome(context, definition, request, await write(context, definition, ref, "finalize", request));
    case "eviction":
      if (subresources.eviction !== true) break;
      return post(request, (body) => evictPod(context, definition, ref, body));
    case "binding":
      if (subresources.binding !== true) break;
      return post(request, (body) => bindPod(context, definition, ref, body));
    case "scale":
      if (subresources.scale === undefined) break;
      return serveScale(context, definition, ref, request);
    default:
  }
  throw unknownResource();
}

async function post(request: ApiRequest, run: (body: Json | undefined) => Outcome): Promise<void> {
  if (request.method !== "POST") throw methodNotAllowed();
  const { code, body } = run(await readJsonBody(request.raw));
  sendJson(request.response, code, body);
}

async function serveScale(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  request: ApiRequest,
): Promise<void> {
  const paths = definition.subresources.scale;
  const live = find(context, definition, ref);
  if (paths === undefined || live === undefined) throw notFound(definition, ref.name);
  if (request.method === "GET") return sendJson(request.response, 200, scaleOf(live, paths));
  if (request.method !== "PUT" && request.method !== "PATCH") throw methodNotAllowed();
  const options = optionsOf(request);
  const body = await readJsonBody(request.raw);
  const mediaType = mediaTypeOf(request.raw);
  updateObject(context, definition, {
    ref,
    subresource: "scale",
    options,
    change(current) {
      const now = find(context, definition, ref) ?? live;
      const { resourceVersion: _version, ...metadata } = objectAt(scaleOf(now, paths), "metadata");
      const scale = { ...scaleOf(now, paths), metadata };
      const wanted =
        request.method === "PUT" ? body : patched({ ...definition, strategicMerge: false }, scale, mediaType, body);
      if (!isObject(wanted)) throw badRequest("the body of the request must be a Scale object");
      return withScale(current, wanted, paths);
    },
  });
  sendJson(request.response, 200, scaleOf(find(context, definition, ref) ?? live, paths));
}

async function deleteCollection(
  context: ServerContext,
  definition: ResourceDefinition,
  path: ResourceRequest,
  request: ApiRequest,
): Promise<void> {
  const body = await readJsonBody(request.raw);
  const options = readDeleteOptions(body, request.query);
  const matches = readSelectors(definition, request.query, undefined);
  const doomed = context.store.list(definition.collection, path.namespace).filter(matches);
  for (const { metadata } of doomed) {
    try {
      deleteObject(context, definition, { namespace: metadata.namespace ?? "", name: metadata.name }, options);
    } catch (error) {
      if (!isStatusError(error) || error.code !== 404) throw error;
    }
  }
  const { resourceVersion } = context.store;
  sendList(
    context,
    definition,
    request,
    { items: doomed, resourceVersion, continueToken: undefined, remaining: undefined },
    includeOf(request),
  );
}

function sendOutcome(
  context: ServerContext,
  definition: ResourceDefinition,
  request: ApiRequest,
  { code, body, warnings }: Outcome,
): void {
  if (body["kind"] === "Status") return sendJson(request.response, code, body, { warnings });
  sendOne(context, definition, request, code, body, includeOf(request), warnings);
}
