import type { StoredObject } from "../objects/stored-object.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { ObjectStore, Scan } from "../storage/object-store.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { parseFieldSelector } from "../selectors/field-selector.ts";
import { parseLabelSelector } from "../selectors/label-selector.ts";
import {
  StatusError,
  badRequest,
  continueExpired,
  expired,
  isStatusError,
  listExpired,
} from "../errors/status-error.ts";
import { checkListOptions } from "../request/list-options.ts";

/** Whether an object belongs to a list or watch. */
export type ObjectMatcher = (object: StoredObject) => boolean;

/** One page of a list. */
export interface Page {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: number;
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
}

/** Reads labelSelector and fieldSelector of a query, and the name in the path of a single watched object. */
export function readSelectors(
  definition: ResourceDefinition,
  query: URLSearchParams,
  name: string | undefined,
): ObjectMatcher {
  const byLabel = parseLabelSelector(query.get("labelSelector") ?? "");
  const byField = parseFieldSelector(query.get("fieldSelector") ?? "", definition.selectable, definition.fieldsOf);
  return (object) =>
    (name === undefined || object.metadata.name === name) && byLabel(object.metadata.labels) && byField(object);
}

/** Parses a resourceVersion. Throws 400 (or `error`) for an invalid one. */
export function parseVersion(text: string | null, prefix = "", error = badRequest): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw error(
    `${prefix}resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
  );
}

/** Throws 504 for a version in the future, like etcd. */
export function checkNotInFuture({ resourceVersion: current }: ObjectStore, version = 0): void {
  if (version <= current) return;
  const message = `Timeout: Too large resource version: ${version}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  throw new StatusError(504, "Timeout", message, { causes, retryAfterSeconds: 1 }, { "retry-after": "1" });
}

/** Reads the resourceVersion of a list. Throws 400 for an invalid one, 504 for one in the future. */
function readVersion({ store }: ServerContext, text: string | null, prefix = ""): number | undefined {
  const version = parseVersion(text, prefix);
  checkNotInFuture(store, version);
  return version;
}

/** Validates the resourceVersion of a get, where it is only a lower bound. Throws 500 for an invalid one. */
export function checkVersionOfGet(context: ServerContext, text: string | null): void {
  try {
    readVersion(context, text);
  } catch (error) {
    if (isStatusError(error) && error.code === 400) throw new StatusError(500, "", error.message);
    throw error;
  }
}

/** Lists one page: everything without `limit`; a `continue` token continues at the version of the first page. */
export function listPage(
  context: ServerContext,
  definition: ResourceDefinition,
  namespace: string | undefined,
  query: URLSearchParams,
): Page {
  checkListOptions(query);
  const matches = readSelectors(definition, query, undefined);
  const { store } = context;
  const token = readToken(query.get("continue"), store.resourceVersion);
  if (token !== undefined && !["", "0"].includes(query.get("resourceVersion") ?? "")) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const requested = readVersion(context, query.get("resourceVersion"), "invalid resource version: ");
  const exact = query.get("resourceVersionMatch") === "Exact" ? requested : undefined;
  // Version 0 is served from the watch cache, which has no pages.
  const limit = query.get("resourceVersion") === "0" ? 0 : Math.max(0, Number(query.get("limit") ?? "0"));
  const tokenVersion = token?.version === inconsistent ? store.resourceVersion : token?.version;
  const version = tokenVersion ?? exact ?? store.resourceVersion;
  const scan = ((): Scan => {
    try {
      return store.scanAt(definition.collection, namespace, version, token?.after);
    } catch (error) {
      if (!isStatusError(error) || error.code !== 410) throw error;
      throw token === undefined ? listExpired() : continueExpired(writeToken(inconsistent, token.after));
    }
  })();
  const items: StoredObject[] = [];
  let hasMore = false;
  for (const object of scan) {
    if (!matches(object)) continue;
    hasMore = limit > 0 && items.length === limit;
    if (hasMore) break;
    items.push(object);
  }
  if (!hasMore) return { items, resourceVersion: version, continueToken: undefined, remaining: undefined };
  const last = items.at(-1);
  const continueToken = last === undefined ? undefined : writeToken(version, keyOf(last));
  // As in kube-apiserver, a selector makes the number of remaining items unknown.
  const isFiltered = Boolean(query.get("labelSelector")) || Boolean(query.get("fieldSelector"));
  return {
    items,
    resourceVersion: version,
    continueToken,
    remaining: isFiltered ? undefined : scan.count - limit,
  };
}

/** The version in a token that continues with the present state, and so may miss changes. */
const inconsistent = -1;

function keyOf({ metadata }: StoredObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function writeToken(version: number, after: string): string {
  return Buffer.from(JSON.stringify({ v: version, after })).toString("base64url");
}

function readToken(text: string | null, current: number): { version: number; after: string } | undefined {
  if (text === null || text === "") return undefined;
  try {
    const token: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (typeof token === "object" && token !== null && "v" in token && "after" in token) {
      const { v: version, after } = token;
      if (typeof version === "number" && typeof after === "string") {
        if (version > current) throw expired(version, current);
        return { version, after };
      }
    }
  } catch (error) {
    if (error instanceof StatusError) throw error;
  }
  throw badRequest("continue key is not valid: it is not of this server");
}
