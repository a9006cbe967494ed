/**
 * The thread of a leader election: an elector with its own event loop and connection. Started by `startLeaderElection`
 * only; any message stops it.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemRandom } from "@millwright/base";
import { createApiClient } from "../client/api-client.ts";
import { loadKubeConfig } from "../connection/load-kube-config.ts";
import { messageOf } from "../log.ts";
import { createElector } from "./elector.ts";
import { createSharedTerm } from "./shared-term.ts";
import type { ElectionThreadData, ElectionThreadMessage } from "./thread-messages.ts";

async function runElector(data: ElectionThreadData, post: (message: ElectionThreadMessage) => void): Promise<void> {
  const clock = systemClock;
  const stop = new AbortController();
  parentPort?.on("message", () => stop.abort(new Error("stopped")));
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
    await elector.run(stop.signal);
  } finally {
    shared.end();
    await api.close();
    // The port would keep the thread alive.
    parentPort?.close();
  }
}

function withHeaders(headers: Readonly<Record<string, string>> = {}) {
  return async () => ({ headers });
}

if (parentPort !== null) {
  const port = parentPort;
  const post = (message: ElectionThreadMessage) => port.postMessage(message);
  // The main thread always passes this type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  runElector(workerData as ElectionThreadData, post).catch((error: unknown) => {
    post({ kind: "failed", message: messageOf(error) });
    port.close();
  });
}
