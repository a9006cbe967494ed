import { apiTime } from "@millwright/kube";
import { createHash } from "node:crypto";
import { aggregatedVersion, apiGroupDiscoveryList } from "../discovery/aggregated-discovery.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "../discovery/legacy-discovery.ts";
import { reviewKinds } from "../access/review-kinds.ts";
import type { JsonObject } from "../json/json.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { openApiV2 } from "../openapi/openapi-v2.ts";
import { openApiDocument, openApiRoot } from "../openapi/openapi-v3.ts";
import { unknownResource } from "../errors/status-error.ts";
import { evaluateReview } from "../verbs/reviews.ts";
import { type ApiRequest, readJsonBody } from "./api-request.ts";
import { sendBytes, sendJson, sendText } from "./response.ts";
import { readAccept } from "../request/negotiation.ts";
import { readResourcePath } from "../request/resource-path.ts";
import { serveResource } from "./serve-resource.ts";

/** The Kubernetes version that this server follows; clients choose features by it. */
const serverVersion: JsonObject = {
  major: "1",
  minor: "35",
  gitVersion: "v1.35.0+millwright",
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: `${process.platform}/${process.arch}`,
};

const healthPaths: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);

/** Serves one request that has passed the guard. Throws StatusErrors. */
export async function serve(context: ServerContext, request: ApiRequest): Promise<void> {
  const { pathname, response, raw } = request;
  const { registry } = context;
  const path = pathname.length > 1 && pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  if (healthPaths.has(path) || [...healthPaths].some((health) => path.startsWith(`${health}/`))) {
    return sendText(response, 200, "ok");
  }
  const discovered = request.method === "GET" ? discover(context, request, path) : undefined;
  if (discovered !== undefined) return discovered();
  const resource = readResourcePath(path);
  const definition =
    resource === undefined ? undefined : context.registry.find(resource.group, resource.version, resource.plural);
  if (resource !== undefined && definition !== undefined) return serveResource(context, definition, resource, request);
  const review = reviewKinds.find(
    (kind) => kind.group === resource?.group && kind.version === resource.version && kind.plural === resource.plural,
  );
  if (review !== undefined && request.method === "POST") {
    const time = apiTime(context.clock.now());
    return sendJson(response, 201, evaluateReview(review, await readJsonBody(raw), { ...request.access, time }));
  }
  raw.resume();
  // kube-apiserver answers an unknown path of a built-in API group with a Status, others with plain text.
  const [root = "", first = ""] = path.split("/").slice(1);
  const isOurs =
    (root === "api" && first !== "") ||
    (root === "apis" && registry.all().some(({ group, origin }) => group === first && origin === "built-in"));
  if (isOurs) throw unknownResource();
  sendText(response, 404, "404 page not found\n");
}

function discover({ registry }: ServerContext, request: ApiRequest, path: string): (() => void) | undefined {
  const { response, raw } = request;
  const json = (body: JsonObject | undefined) => (body === undefined ? undefined : () => sendJson(response, 200, body));
  const aggregated = aggregatedVersion(readAccept(raw.headers.accept));
  if ((path === "/api" || path === "/apis") && aggregated !== undefined) {
    const body = apiGroupDiscoveryList(registry, path === "/api" ? "api" : "apis", aggregated);
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${aggregated};as=APIGroupDiscoveryList`;
    return () => {
      const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("hex").toUpperCase()}"`;
      response.setHeader("etag", etag);
      response.setHeader("vary", "Accept");
      sendJson(response, 200, body, { contentType });
    };
  }
  const segments = path.split("/").slice(1);
  const [root, first, second, ...rest] = segments;
  switch (root ?? "") {
    case "version":
      return json(serverVersion);
    case "":
      return json({ paths: ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"] });
    case "api":
      if (first === undefined) return json(apiVersions(raw.headers.host ?? ""));
      return second === undefined ? json(apiResourceList(registry, "", first)) : undefined;
    case "apis":
      if (first === undefined) return json(apiGroupList(registry));
      if (second === undefined) return json(apiGroup(registry, first));
      return rest.length === 0 ? json(apiResourceList(registry, first, second)) : undefined;
    case "openapi":
      if (first === "v2") {
        const { contentType, body } = openApiV2(raw.headers.accept);
        return () => sendBytes(response, 200, body, contentType);
      }
      if (first !== "v3") return undefined;
      return json(
        second === undefined ? openApiRoot(registry) : openApiDocument(registry, [second, ...rest].join("/")),
      );
    default:
      return undefined;
  }
}
