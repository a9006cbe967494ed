import {
  Agent as PlainAgent,
  createServer,
  type IncomingMessage,
  request as plainRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { Agent, request as tlsRequest } from "node:https";

/** A proxy in front of an API server, for faults that the server itself does not have, or that only some of its clients have. */
export interface FaultyProxy {
  readonly url: string;
  /** From now on nothing is answered, and open watches are silent; connections stay open. */
  stall(): void;
  /** Ends {@link FaultyProxy.stall}; what was not answered meanwhile is cut. */
  resume(): void;
  /** As {@link FaultyProxy.stall}, but as a load balancer does that waits for the server: no connection of a client ends, whatever becomes of the server's. */
  hideOutage(): void;
  /** Ends {@link FaultyProxy.hideOutage}: what was held is sent now. Watches that were open stay silent. */
  endOutage(): void;
  /** Ends all watches of a resource as expired, and answers the lists that follow with no objects, so many times. */
  emptyLists(resource: string, times: number): void;
  /** How many requests were received. */
  readonly requests: () => number;
  /** Requests that were no reads, as `METHOD path`. */
  readonly writes: () => readonly string[];
  /** How many lists are still to be emptied. */
  readonly listsToEmpty: () => number;
  close(): Promise<void>;
}

/** A request that is being answered. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  answer?: IncomingMessage;
  /** The server's side may end without the client's. */
  isHidden?: boolean;
}

const expired = JSON.stringify({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  reason: "Expired",
  code: 410,
  message: "too old resource version",
});

const json = { "content-type": "application/json" };

/** The text of a list, as if there was no object. */
const withoutItems = async (message: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  return JSON.stringify({ ...JSON.parse(Buffer.concat(chunks).toString("utf8")), items: [] });
};

/** Listens on a free port of loopback, and returns it. */
const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("the proxy has no port"));
    });
  });

const answerWithoutItems = (answer: IncomingMessage, outgoing: ServerResponse): void =>
  void withoutItems(answer).then(
    (text) => outgoing.writeHead(answer.statusCode ?? 502, json).end(text),
    () => outgoing.destroy(),
  );

/** The resource whose lists are emptied, and how many of them still are. */
interface EmptiedLists {
  readonly resource: string;
  left: number;
}

/** Whether the request is for the collection of the resource whose lists are emptied, and whether it is a watch. */
function faultOf(incoming: IncomingMessage, { resource, left }: EmptiedLists): "watch" | "list" | undefined {
  const url = new URL(incoming.url ?? "", "http://proxy");
  if (left === 0 || incoming.method !== "GET" || !url.pathname.endsWith(`/${resource}`)) return undefined;
  return url.searchParams.get("watch") === "true" ? "watch" : "list";
}

const closeAll = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const cut = (exchanges: Iterable<Exchange>): void => {
  for (const { outgoing } of exchanges) outgoing.destroy();
};

/** The API server behind a proxy. */
interface ProxiedServer {
  readonly url: string;
  /** Of its certificate; absent for plain HTTP. */
  readonly ca?: string;
}

const transportTo = (target: string, ca: string | undefined) =>
  target.startsWith("https:")
    ? { agent: new Agent({ keepAlive: true, ca }), request: tlsRequest }
    : { agent: new PlainAgent({ keepAlive: true }), request: plainRequest };

/** Starts it on loopback, over plain HTTP. Credentials are the client's. */
export async function startFaultyProxy({ url: target, ca }: ProxiedServer): Promise<FaultyProxy> {
  const { agent, request } = transportTo(target, ca);
  const open = new Set<Exchange>();
  let isStalled = false;
  const held = new Set<Exchange>();
  let emptied: EmptiedLists = { resource: "", left: 0 };

  const forward = (exchange: Exchange): void => {
    const { incoming, outgoing } = exchange;
    const fault = faultOf(incoming, emptied);
    if (fault === "watch") {
      outgoing.writeHead(410, json).end(expired);
      return;
    }
    if (fault === "list") emptied.left--;
    const { host: _, "accept-encoding": __, ...headers } = incoming.headers;
    const upstream = request(new URL(incoming.url ?? "", target), { agent, method: incoming.method, headers });
    upstream.on("error", () => (exchange.isHidden === true ? undefined : outgoing.destroy()));
    outgoing.on("close", () => upstream.destroy());
    upstream.on("response", (answer) => {
      const { statusCode = 502, headers: answered } = answer;
      if (fault === "list") return answerWithoutItems(answer, outgoing);
      exchange.answer = answer;
      outgoing.writeHead(statusCode, answered);
      outgoing.flushHeaders();
      answer.on("error", () => (exchange.isHidden === true ? undefined : outgoing.destroy()));
      if (!isStalled) answer.pipe(outgoing);
    });
    incoming.pipe(upstream);
  };

  let requests = 0;
  const writes: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests++;
    const { method = "", url = "" } = incoming;
    if (method !== "GET") writes.push(`${method} ${url}`);
    const exchange: Exchange = { incoming, outgoing };
    open.add(exchange);
    outgoing.on("close", () => {
      open.delete(exchange);
      held.delete(exchange);
    });
    if (isStalled) held.add(exchange);
    else forward(exchange);
  });
  const port = await listen(server);
  const stall = (): void => {
    isStalled = true;
    for (const { answer, outgoing } of open) answer?.unpipe(outgoing);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    stall,
    hideOutage() {
      stall();
      for (const exchange of open) exchange.isHidden = true;
    },
    endOutage() {
      isStalled = false;
      for (const exchange of held) forward(exchange);
      held.clear();
    },
    resume() {
      isStalled = false;
      held.clear();
      cut(open);
    },
    emptyLists(resource, times) {
      emptied = { resource, left: times };
      cut([...open].filter(({ incoming }) => faultOf(incoming, emptied) === "watch"));
    },
    requests: () => requests,
    writes: () => writes,
    listsToEmpty: () => emptied.left,
    async close() {
      await closeAll(server);
      agent.destroy();
    },
  };
}
