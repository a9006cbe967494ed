import { type ApiClient, createEventRecorder, createInformer, type EventRecorder } from "@millwright/kube";
import { type Clock, type Random, systemRandom } from "@millwright/base";
import { isObject } from "../json/json.ts";
import type { Log } from "@millwright/kube";
import { act, type Writes } from "./act.ts";
import { attachVolumes } from "./attach-detach.ts";
import { createBell } from "./bell.ts";
import { bindClaims } from "./bind-claims.ts";
import { createTroubles, type Troubles } from "../cluster-faults/cluster-faults.ts";
import { keepDaemonSets } from "./daemon-sets.ts";
import { keepDeployments } from "./deployments.ts";
import { createDueTimes } from "./due-times.ts";
import { runPods } from "./kubelets.ts";
import { keepReplicaSets } from "./replica-sets.ts";
import { resources, type ResourceKey } from "./watched-resources.ts";
import { releaseVolumes } from "./release-volumes.ts";
import { schedulePods } from "./scheduler.ts";
import { keepStatefulSets } from "./stateful-sets.ts";
import { evictFromTaintedNodes } from "./taint-eviction.ts";
import { taintNodes } from "./taint-nodes.ts";
import { type Action, type Item, keyOfItem, type Saying, type View } from "./view.ts";

/** Options of {@link createWorkloads}. */
export interface WorkloadsOptions {
  /** A client of any API server that has no scheduler, kubelets and workload controllers of its own. */
  readonly api: ApiClient;
  readonly clock: Clock;
  /** Default: the system's randomness; it spreads retries only. */
  readonly random?: Random;
  /** From a pod being bound (and its volumes attached) to it running. Default 500 ms. */
  readonly podStartMs?: number;
  /** From a pod being told to end to its end, unless its grace is shorter. Default 1 s. */
  readonly podStopMs?: number;
  /** Default 500 ms. */
  readonly attachMs?: number;
  /** Default 500 ms. */
  readonly detachMs?: number;
  /** What goes wrong on demand, shared with the simulated nodes: `server.troubles` of an API server of ours. Default: nothing. */
  readonly troubles?: Troubles;
  readonly log?: Log;
}

/** What runs in a cluster, simulated. */
export interface Workloads {
  /** Runs until the signal aborts; resolves after the last call has ended. Never rejects: failed calls are tried again. */
  start(signal: AbortSignal): Promise<void>;
}

/** Two passes are at least this far apart, so that a burst of changes is one pass. */
const settleMs = 20;
const retryMs = 500;
const parallelCalls = 8;

/**
 * Creates the scheduler, the kubelets' pods, the controllers of ReplicaSets, Deployments, StatefulSets and DaemonSets, and the
 * coming and going of volumes: enough that a drain of real workloads looks right. All of it is a client of the API server.
 * Nodes come from `createSimulatedNodes` or from anybody else who keeps their condition Ready.
 */
export function createWorkloads(options: WorkloadsOptions): Workloads {
  const { api, clock, random = systemRandom, log = () => {} } = options;
  const { troubles = createTroubles() } = options;
  const { podStartMs = 500, podStopMs = 1_000, attachMs = 500, detachMs = 500 } = options;
  const podTimes = { startDelayMs: podStartMs, stopDelayMs: podStopMs };
  const volumeTimes = { attachDelayMs: attachMs, detachDelayMs: detachMs };
  const times = createDueTimes(() => clock.monotonicMs());

  const plan = (view: View): readonly Action[] => [
    ...keepDeployments(view),
    ...keepReplicaSets(view),
    ...keepStatefulSets(view),
    ...keepDaemonSets(view),
    ...taintNodes(view),
    ...evictFromTaintedNodes(view),
    ...bindClaims(view),
    ...releaseVolumes(view),
    ...schedulePods(view),
    ...attachVolumes(view, volumeTimes),
    ...runPods(view, podTimes),
  ];

  return {
    async start(signal) {
      const stop = new AbortController();
      const stopping = AbortSignal.any([signal, stop.signal]);
      const informers = createInformers(api, clock, random);
      const running = Object.values(informers).map((informer) => informer.run(stopping));
      const bell = createBell();
      const endings = [
        troubles.subscribe(() => bell.ring()),
        ...Object.values(informers).map(({ store }) => store.subscribe(() => bell.ring(), { replay: false })),
      ];
      const events = createSpeakers(api, clock, random);
      const writes: Writes = {
        applied: (kind, object) => informers[kind].store.applyWrite(object),
        deleted: (kind, { metadata: { name, namespace, uid } }) =>
          informers[kind].store.applyDelete({ name, namespace, uid }),
        say: events.say,
      };
      const pass = async (): Promise<boolean> => {
        let hasFailed = false;
        const actions = plan(viewOf(informers, clock.now(), times, troubles));
        const queue = actions.values();
        const worker = async (): Promise<void> => {
          for (const action of queue) {
            if (signal.aborted) return;
            try {
              await act(api, action, writes, signal);
            } catch (error) {
              hasFailed = true;
              if (!signal.aborted) log("debug", "workloads: a call failed and will be tried again", { action, error });
            }
          }
        };
        await Promise.all(Array.from({ length: parallelCalls }, worker));
        return hasFailed;
      };
      try {
        await Promise.all(Object.values(informers).map((informer) => informer.synced(signal)));
        while (!signal.aborted) {
          bell.reset();
          const hasFailed = await pass();
          const dueMs = times.endPass();
          const waitMs = hasFailed ? retryMs : dueMs;
          await bell.wait(clock, waitMs, signal);
          await clock.sleep(settleMs, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const end of endings) end();
        events.close();
        stop.abort();
        await Promise.allSettled(running);
      }
    },
  };
}

function createInformers(api: ApiClient, clock: Clock, random: Random) {
  const of = (kind: ResourceKey) => createInformer({ api, type: resources[kind], clock, random });
  return {
    pods: of("pods"),
    nodes: of("nodes"),
    volumes: of("volumes"),
    claims: of("claims"),
    attachments: of("attachments"),
    storageClasses: of("storageClasses"),
    replicaSets: of("replicaSets"),
    deployments: of("deployments"),
    statefulSets: of("statefulSets"),
    daemonSets: of("daemonSets"),
  };
}

/** One recorder for each component that says something. */
function createSpeakers(api: ApiClient, clock: Clock, random: Random) {
  const recorders = new Map<string, EventRecorder>();
  return {
    say({ from, about, kind, apiVersion, ...event }: Saying): void {
      let recorder = recorders.get(from);
      if (recorder === undefined) {
        recorder = createEventRecorder({ api, component: from, clock, random });
        recorders.set(from, recorder);
      }
      recorder.record({ ...about, apiVersion, kind }, event);
    },
    close(): void {
      for (const recorder of recorders.values()) recorder.close();
    },
  };
}

function viewOf(
  informers: ReturnType<typeof createInformers>,
  now: Date,
  times: Pick<View, "due" | "isNew">,
  troubles: Troubles,
): View {
  const items = (kind: ResourceKey): readonly Item[] =>
    informers[kind].store
      .list()
      .filter(isItem)
      .toSorted((a, b) => (keyOfItem(a) < keyOfItem(b) ? -1 : 1));
  return {
    pods: items("pods"),
    nodes: items("nodes"),
    volumes: items("volumes"),
    claims: items("claims"),
    attachments: items("attachments"),
    storageClasses: items("storageClasses"),
    replicaSets: items("replicaSets"),
    deployments: items("deployments"),
    statefulSets: items("statefulSets"),
    daemonSets: items("daemonSets"),
    now,
    due: times.due,
    isNew: times.isNew,
    troubles: troubles.list().map(({ trouble }) => trouble),
  };
}

function isItem(value: unknown): value is Item {
  if (!isObject(value)) return false;
  const { metadata } = value;
  return isObject(metadata) && typeof metadata["name"] === "string" && typeof metadata["uid"] === "string";
}
