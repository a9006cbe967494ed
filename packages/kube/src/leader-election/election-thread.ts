/**
 * The thread of leader elections: electors with their own event loop and connections. Started by `createElectionThread` only; it ends when no
 * election is left.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import { systemClock, systemRandom } from "@millwright/base";
import { createApiClient } from "../client/api-client.ts";
import { loadKubeConfig } from "../connection/load-kube-config.ts";
import { messageOf } from "../log.ts";
import { createElector } from "./elector.ts";
import { createSharedTerm } from "./shared-term.ts";
import type {
  ElectionReport,
  ElectionThreadMessage,
  ElectionThreadRequest,
  ThreadElection,
} from "./thread-messages.ts";

async function runElector(
  data: ThreadElection,
  post: (report: ElectionReport) => void,
  signal: AbortSignal,
): Promise<void> {
  const clock = systemClock;
  const shared = createSharedTerm(clock, data.memory);
  const log = (level: "debug" | "info" | "warn" | "error", message: string, fields: object = {}) =>
    post({ kind: "log", level, message, fields: { ...fields } });
  const config =
    "kubeConfig" in data.cluster
      ? await loadKubeConfig(data.cluster.kubeConfig)
      : { ...data.cluster.cluster, credentials: withHeaders(data.cluster.headers) };
  // The elector retries: it knows how much time is left.
  const api = createApiClient(config, {
    userAgent: data.userAgent,
    maxConnections: data.leases.length,
    maxRetries: 0,
    clock,
  });
  let isLeading = false;
  const elector = createElector({
    api,
    leases: data.leases,
    identity: data.identity,
    settings: data.settings,
    clock,
    random: systemRandom,
    log,
    report: {
      leading(untilMs) {
        shared.extend(untilMs - clock.monotonicMs());
        if (!isLeading) post({ kind: "leading" });
        isLeading = true;
      },
      holder: (identity) => post({ kind: "holder", identity }),
      rewound: (found) => post({ kind: "rewound", found }),
      ended(because) {
        shared.end();
        post({ kind: "ended", because });
      },
    },
    unhealthyReason: () =>
      data.stalledAfterMs > 0 && shared.silenceMs() > data.stalledAfterMs
        ? `the event loop was blocked for ${data.stalledAfterMs} ms`
        : undefined,
  });
  try {
    await elector.run(signal);
  } finally {
    shared.end();
    await api.close();
  }
}

function withHeaders(headers: Readonly<Record<string, string>> = {}) {
  return async () => ({ headers });
}

function serveElections(port: MessagePort): void {
  const running = new Map<number, AbortController>();
  const post = (message: ElectionThreadMessage) => port.postMessage(message);

  async function start(election: ThreadElection): Promise<void> {
    const { id } = election;
    const stop = new AbortController();
    running.set(id, stop);
    try {
      await runElector(election, (report) => post({ id, report }), stop.signal);
    } catch (error) {
      post({ id, report: { kind: "failed", message: messageOf(error) } });
    }
    running.delete(id);
    post({ id });
    // The port would keep the thread alive.
    if (running.size === 0) port.close();
  }

  port.on("message", (request: ElectionThreadRequest) => {
    if (request.kind === "start") void start(request.election);
    else running.get(request.id)?.abort(new Error("stopped"));
  });
}

if (parentPort !== null) serveElections(parentPort);
