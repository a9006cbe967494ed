/**
 * The thread of a leader election: an elector with an event loop and a connection of its own. Started by `startLeaderElection`
 * and by nobody else; "stop" is the only message that it understands.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemRandom } from "@millwright/base";
import { createApiClient } from "../client/api-client.ts";
import { loadKubeConfig } from "../connection/load-kube-config.ts";
import { messageOf } from "../log.ts";
import { createElector } from "./elector.ts";
import { createSharedTerm } from "./shared-term.ts";
import type { ElectionThreadData, ElectionThreadMessage } from "./thread-messages.ts";

async function takePart(data: ElectionThreadData, say: (message: ElectionThreadMessage) => void): Promise<void> {
  const clock = systemClock;
  const stop = new AbortController();
  parentPort?.on("message", () => stop.abort(new Error("stopped")));
  const shared = createSharedTerm(clock, data.memory);
  const log = (level: "debug" | "info" | "warn" | "error", message: string, fields: object = {}) =>
    say({ kind: "log", level, message, fields: { ...fields } });
  const config =
    "kubeConfig" in data.cluster
      ? await loadKubeConfig(data.cluster.kubeConfig)
      : { ...data.cluster.cluster, credentials: withHeaders(data.cluster.headers) };
  // Repetition is the elector's business: it knows how much time is left.
  const api = createApiClient(config, { userAgent: data.userAgent, maxConnections: 1, maxRetries: 0, clock });
  let isLeading = false;
  const elector = createElector({
    api,
    lease: data.lease,
    identity: data.identity,
    settings: data.settings,
    clock,
    random: systemRandom,
    log,
    report: {
      leading(untilMs) {
        shared.extend(untilMs - clock.monotonicMs());
        if (!isLeading) say({ kind: "leading" });
        isLeading = true;
      },
      holder: (identity) => say({ kind: "holder", identity }),
      ended(because) {
        shared.end();
        say({ kind: "ended", because });
      },
    },
    reasonToGiveUp: () =>
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
  const say = (message: ElectionThreadMessage) => port.postMessage(message);
  // What the main thread handed over, of the one type that it hands over.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  takePart(workerData as ElectionThreadData, say).catch((error: unknown) => {
    say({ kind: "failed", message: messageOf(error) });
    port.close();
  });
}
