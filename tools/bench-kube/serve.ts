/**
 * A fake API server with TLS for kube.ts, in a process of its own so that its work is not counted. Knows lists (streamed and in
 * pages), watches that send `/rate?perSecond=N` events a second, and single objects. Prints its port and its
 * certificate.
 */
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import { makeCertificate } from "../../packages/kube/src/testing/certificate.ts";
import { fleet, makeMachine, makeNode, makePod } from "./fleet.ts";

const makers: Readonly<
  Record<string, { readonly make: (index: number, version: number) => object; readonly count: number }>
> = {
  nodes: { make: makeNode, count: fleet.nodes },
  machines: { make: makeMachine, count: fleet.machines },
  pods: { make: makePod, count: fleet.pods },
};
const listVersion = 1_000_000;
let version = listVersion;
let perSecond = 0;
let sent = 0;
let connections = 0;
const watches = new Set<ServerResponse>();

/** Writes as fast as the reader reads. */
async function writeAll(response: ServerResponse, lines: Iterable<string>): Promise<void> {
  for (const line of lines) {
    if (response.destroyed) return;
    if (response.write(line)) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        response.off("drain", go).off("close", go);
        resolve();
      };
      response.on("drain", go).on("close", go);
    });
  }
}

function* initialEvents(resource: string): Generator<string> {
  const { make, count } = makers[resource] ?? { make: makePod, count: 0 };
  for (let index = 0; index < count; index++)
    yield `${JSON.stringify({ type: "ADDED", object: make(index, index + 1) })}\n`;
  const metadata = { resourceVersion: String(listVersion), annotations: { "k8s.io/initial-events-end": "true" } };
  yield `${JSON.stringify({ type: "BOOKMARK", object: { metadata } })}\n`;
}

function listPage(resource: string, query: URLSearchParams): string {
  const { make, count } = makers[resource] ?? { make: makePod, count: 0 };
  const from = Number(query.get("continue") ?? 0);
  const until = Math.min(count, from + Number(query.get("limit") ?? count));
  const items = Array.from({ length: until - from }, (_, offset) => make(from + offset, from + offset + 1));
  const metadata = { resourceVersion: String(listVersion), ...(until < count ? { continue: String(until) } : {}) };
  return JSON.stringify({ kind: "List", metadata, items });
}

const certificate = makeCertificate("bench");
const server = createServer(certificate, (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://localhost");
  const resource = Object.keys(makers).find((name) => pathname.endsWith(`/${name}`));
  response.setHeader("content-type", "application/json");
  if (pathname === "/rate") {
    perSecond = Number(searchParams.get("perSecond"));
    sent = 0;
    response.end("{}");
  } else if (pathname === "/counts") {
    response.end(JSON.stringify({ sent, connections }));
  } else if (resource === undefined) {
    response.end(JSON.stringify(makeNode(1, 1)));
  } else if (searchParams.get("watch") !== "true") {
    response.end(listPage(resource, searchParams));
  } else {
    response.flushHeaders();
    if (resource === "pods") {
      watches.add(response);
      response.on("close", () => watches.delete(response));
    }
    if (searchParams.get("sendInitialEvents") === "true") void writeAll(response, initialEvents(resource));
  }
});
server.on("secureConnection", () => connections++);

// A hundred times a second, so that events do not all come at once.
setInterval(() => {
  const count = Math.round(perSecond / 100);
  if (count === 0) return;
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    version++;
    lines.push(`${JSON.stringify({ type: "MODIFIED", object: makePod(version % fleet.pods, version) })}\n`);
  }
  for (const watch of watches) watch.write(lines.join(""));
  if (watches.size > 0) sent += count;
}, 10);

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ port, cert: certificate.cert })}\n`);
});
