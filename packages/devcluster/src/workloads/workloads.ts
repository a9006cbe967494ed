import { type ApiClient, createEventRecorder, createInformer, type EventRecorder } from "@millwright/kube";
import { type Clock, type Random, systemRandom } from "@millwright/base";
import { isObject } from "../json/json.ts";
import type { Log } from "@millwright/kube";
import { runAction, type Writes } from "./run-action.ts";
import { attachVolumes } from "./attach-detach.ts";
import { createChangeSignal } from "./change-signal.ts";
import { bindClaims } from "./bind-claims.ts";
import { createClusterFaults, type ClusterFaults } from "../cluster-faults/cluster-faults.ts";
import { reconcileDaemonSets } from "./daemon-sets.ts";
import { reconcileDeployments } from "./deployments.ts";
import { createDueTimes } from "./due-times.ts";
import { runPods } from "./kubelets.ts";
import { reconcileReplicaSets } from "./replica-sets.ts";
import { ofEachResource, resources, type ResourceKey } from "./watched-resources.ts";
import { releaseVolumes } from "./release-volumes.ts";
import { schedulePods } from "./scheduler.ts";
import { reconcileStatefulSets } from "./stateful-sets.ts";
import { evictFromTaintedNodes } from "./taint-eviction.ts";
import { taintNodes } from "./taint-nodes.ts";
import { type Action, type Item, keyOfItem, type ObjectEvent, type View } from "./view.ts";

/** Options of {@link createWorkloads}. */
export interface WorkloadsOptions {
  /** A client of any API server that has no scheduler, kubelets and workload controllers of its own. */
  readonly api: ApiClient;
  readonly clock: Clock;
  /** Default: the system's randomness; it spreads retries only. */
  readonly random?: Random;
  /** From the binding of a pod (and the attachment of its volumes) to its start. Default 500 ms. */
  readonly podStartMs?: number;
  /** From the deletion of a pod to its end, unless its grace period is shorter. Default 1 s. */
  readonly podStopMs?: number;
  /** Default 500 ms. */
  readonly attachMs?: number;
  /** Default 500 ms. */
  readonly detachMs?: number;
  /** Faults, shared with the simulated nodes, such as `clusterFaults` of an API server of this package. Default: none. */
  readonly clusterFaults?: ClusterFaults;
  readonly log?: Log;
}

/** The simulated workloads of a cluster. */
export interface Workloads {
  /** Runs until the signal aborts; resolves after the last call has ended. Never rejects: failed calls are retried. */
  start(signal: AbortSignal): Promise<void>;
}

/** The least time between two reconciles, so that a burst of changes is handled by one. */
const settleMs = 20;
const retryMs = 500;
const parallelCalls = 8;

/**
 * Creates the scheduler, the kubelets' pods, the controllers of ReplicaSets, Deployments, StatefulSets and DaemonSets, and the
 * provisioning, attachment and deletion of volumes: enough for realistic drains. All of it is a client of the API server.
 * Nodes come from `createSimulatedNodes` or from another client that maintains their condition Ready.
 */
export function createWorkloads(options: WorkloadsOptions): Workloads {
  const { api, clock, random = systemRandom, log = () => {} } = options;
  const { clusterFaults = createClusterFaults() } = options;
  const { podStartMs = 500, podStopMs = 1_000, attachMs = 500, detachMs = 500 } = options;
  const podTimes = { startDelayMs: podStartMs, stopDelayMs: podStopMs };
  const volumeTimes = { attachDelayMs: attachMs, detachDelayMs: detachMs };
  const times = createDueTimes(() => clock.monotonicMs());

  const plan = (view: View): readonly Action[] => [
    ...reconcileDeployments(view),
    ...reconcileReplicaSets(view),
    ...reconcileStatefulSets(view),
    ...reconcileDaemonSets(view),
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
      const changes = createChangeSignal();
      const endings = [
        clusterFaults.subscribe(() => changes.notify()),
        ...Object.values(informers).map(({ store }) => store.subscribe(() => changes.notify(), { replay: false })),
      ];
      const recorders = createEventRecorders(api, clock, random);
      const writes: Writes = {
        applied: (kind, object) => informers[kind].store.applyWrite(object),
        deleted: (kind, { metadata: { name, namespace, uid } }) =>
          informers[kind].store.applyDelete({ name, namespace, uid }),
        record: recorders.record,
      };
      const reconcile = async (): Promise<boolean> => {
        let hasFailed = false;
        const actions = plan(viewOf(informers, clock.now(), times, clusterFaults));
        const queue = actions.values();
        const worker = async (): Promise<void> => {
          for (const action of queue) {
            if (signal.aborted) return;
            try {
              await runAction(api, action, writes, signal);
            } catch (error) {
              hasFailed = true;
              if (!signal.aborted) log("debug", "workloads: Failed to write, will retry", { action, error });
            }
          }
        };
        await Promise.all(Array.from({ length: parallelCalls }, worker));
        return hasFailed;
      };
      try {
        await Promise.all(Object.values(informers).map((informer) => informer.synced(signal)));
        while (!signal.aborted) {
          changes.reset();
          const hasFailed = await reconcile();
          const dueMs = times.endReconcile();
          const waitMs = hasFailed ? retryMs : dueMs;
          await changes.wait(clock, waitMs, signal);
          await clock.sleep(settleMs, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const end of endings) end();
        recorders.close();
        stop.abort();
        await Promise.allSettled(running);
      }
    },
  };
}

const createInformers = (api: ApiClient, clock: Clock, random: Random) =>
  ofEachResource((key) => createInformer({ api, type: resources[key], clock, random }));

/** One event recorder for each component. */
function createEventRecorders(api: ApiClient, clock: Clock, random: Random) {
  const recorders = new Map<string, EventRecorder>();
  return {
    record({ from, about, kind, apiVersion, ...event }: ObjectEvent): void {
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
  clusterFaults: ClusterFaults,
): View {
  const items = (kind: ResourceKey): readonly Item[] =>
    informers[kind].store
      .list()
      .filter(isItem)
      .toSorted((a, b) => (keyOfItem(a) < keyOfItem(b) ? -1 : 1));
  return {
    ...ofEachResource(items),
    now,
    due: times.due,
    isNew: times.isNew,
    faults: clusterFaults.list().map(({ fault }) => fault),
  };
}

function isItem(value: unknown): value is Item {
  if (!isObject(value)) return false;
  const { metadata } = value;
  return isObject(metadata) && typeof metadata["name"] === "string" && typeof metadata["uid"] === "string";
}
