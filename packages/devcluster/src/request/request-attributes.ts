import type { IncomingMessage } from "node:http";
import { isWatch } from "./list-options.ts";
import { readResourcePath } from "./resource-path.ts";

/** The attributes of a request for authorization and audit, with Kubernetes' names. */
export interface RequestAttributes {
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the HTTP method in lower case for other
   * paths.
   */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  /** The plural, without the subresource; empty for non-resource paths. */
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped resources and for requests across namespaces. */
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** A list, or a watch that begins with one (`sendInitialEvents`). */
  readonly isList: boolean;
  readonly userAgent: string;
  readonly headers: IncomingMessage["headers"];
}

const verbs: Readonly<Record<string, readonly [ofOne: string, ofMany: string]>> = {
  GET: ["get", "list"],
  HEAD: ["get", "list"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["delete", "deletecollection"],
};

/** Reads the attributes of a request, with the rules of kube-apiserver's RequestInfo. */
export function attributesOf(raw: IncomingMessage, url: URL): RequestAttributes {
  const method = raw.method ?? "GET";
  const resource = readResourcePath(url.pathname);
  const [ofOne, ofMany] = verbs[method] ?? [method.toLowerCase(), method.toLowerCase()];
  const verb = resource?.name === undefined ? ofMany : ofOne;
  const isStream = method === "GET" && resource !== undefined && isWatch(url.searchParams);
  return {
    verb: resource === undefined ? method.toLowerCase() : isStream ? "watch" : verb,
    group: resource?.group ?? "",
    version: resource?.version ?? "",
    resource: resource?.plural ?? "",
    subresource: resource?.subresource ?? "",
    namespace: resource?.namespace ?? "",
    name: resource?.name ?? nameInSelector(url.searchParams.get("fieldSelector")),
    // Mostly the same text; unlike a part of a URL, this string does not keep the whole URL in memory.
    path: raw.url === url.pathname ? raw.url : url.pathname,
    isList: isStream ? url.searchParams.get("sendInitialEvents") === "true" : resource !== undefined && verb === "list",
    userAgent: raw.headers["user-agent"] ?? "",
    headers: raw.headers,
  };
}

/** A list or watch that selects one name counts as a request for that object. */
function nameInSelector(selector: string | null): string {
  return /(?:^|,)metadata\.name==?([^,!=]+)(?:,|$)/.exec(selector ?? "")?.[1] ?? "";
}
