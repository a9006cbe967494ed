import { join } from "node:path";
import { isNotFound, podResource } from "@millwright/kube";
import type { Program } from "../program.ts";
import { isPodReady, type NodeOptions, type Pod, podSchema, type RunningPod, startPod } from "./pod.ts";

/** Where a kubelet runs pods. */
export interface KubeletOptions extends NodeOptions {
  /** For the volumes of pods; its path is short, because that of a unix socket has at most 103 bytes. */
  readonly folder: string;
}

/** Runs the pods of a cluster. */
export interface Kubelet {
  /** How many run. */
  pods(): number;
  /** Output of all containers, also of ended ones, for messages of tests. */
  log(): string;
  /** Kills all containers. */
  close(): Promise<void>;
}

const POLL_MS = 200;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : JSON.stringify(error));

/** Runs the pods of all namespaces as processes of this computer. */
export function startKubelet(options: KubeletOptions): Kubelet {
  const { api, folder } = options;
  const running = new Map<string, RunningPod>();
  const started: Program[] = [];
  const failures = new Set<string>();
  const closing = new AbortController();
  let count = 1;

  async function start(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const target = { apiVersion: "v1", kind: "Node", name: "worker" };
    // Without a node it would be deleted before its processes have ended.
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
    await api.create(podResource, binding, { subresource: "binding" });
    count += 1;
    const known = await startPod(pod, options, join(folder, `${count}`), `127.0.1.${count}`);
    started.push(...known.programs.values());
    running.set(uid, known);
  }

  async function report(pod: Pod, known: RunningPod): Promise<void> {
    const status = (await isPodReady(pod, known)) ? "True" : "False";
    const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status }));
    const patch = { status: { phase: "Running", podIP: known.ip, conditions } };
    await api.patch(podResource, pod.metadata, patch, { kind: "strategic", subresource: "status" });
  }

  async function end(uid: string): Promise<void> {
    const programs = running.get(uid)?.programs.values() ?? [];
    running.delete(uid);
    await Promise.all([...programs].map((program) => program.stop("SIGTERM")));
  }

  async function sync(): Promise<void> {
    for (const item of (await api.list(podResource)).items) {
      const pod = podSchema.parse(item);
      const { uid, deletionTimestamp } = pod.metadata;
      const known = running.get(uid);
      if (deletionTimestamp !== undefined) {
        await end(uid);
        await api.delete(podResource, pod.metadata, { gracePeriodSeconds: 0 });
      } else if (known === undefined) await start(pod);
      else await report(pod, known);
    }
  }

  const ended = (async () => {
    while (!closing.signal.aborted) {
      await sync().catch((error: unknown) => {
        // A pod of the list may be deleted meanwhile.
        if (!isNotFound(error)) failures.add(messageOf(error));
      });
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  })();
  return {
    pods: () => running.size,
    log: () => [...failures, ...started.map((program) => program.output())].join("\n"),
    async close() {
      closing.abort();
      await ended;
      await Promise.all(started.map((program) => program.stop("SIGKILL")));
    },
  };
}
