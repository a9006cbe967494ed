import { type ApiClient, isNotFound, type Log, nodeResource } from "@millwright/kube";
import type { Clock } from "@millwright/base";
import { createKubelet } from "./kubelet.ts";
import { markSilentNodes } from "./node-lifecycle.ts";
import type { DesiredNode, NodeState, Readiness } from "./node-object.ts";
import { createClusterFaults, type ClusterFaults } from "../cluster-faults/cluster-faults.ts";
import { isKubeletStopped, mayJoin, stateOf } from "./node-faults.ts";

/** The Nodes of removed machines, which a cloud controller manager deletes after a while. */
interface NodeRemovals {
  add(nodeName: string, nowMs: number): void;
  cancel(nodeName: string): void;
  /** The Nodes to delete now. */
  due(nowMs: number): readonly string[];
  /** Deletes a Node. After a failure it stays due. */
  remove(nodeName: string, signal: AbortSignal): Promise<void>;
}

/** Creates an empty set of removals, each due `afterMs` after it was added. */
function createNodeRemovals(api: ApiClient, afterMs: number, log: Log): NodeRemovals {
  const removedSinceMs = new Map<string, number>();
  return {
    add: (nodeName, nowMs) => void removedSinceMs.set(nodeName, nowMs),
    cancel: (nodeName) => void removedSinceMs.delete(nodeName),
    due: (nowMs) => [...removedSinceMs].filter(([, since]) => nowMs - since >= afterMs).map(([nodeName]) => nodeName),
    async remove(nodeName, signal) {
      try {
        await api.delete(nodeResource, { name: nodeName }, { signal });
        removedSinceMs.delete(nodeName);
      } catch (error) {
        if (isNotFound(error)) removedSinceMs.delete(nodeName);
        else if (!signal.aborted) {
          log("debug", "simulated node: Failed to delete the Node, will retry", { node: nodeName, error });
        }
      }
    },
  };
}

/** Options of {@link createSimulatedNodes}. */
export interface SimulatedNodesOptions {
  /** A client of any API server: this package's own, or a real one. */
  readonly api: ApiClient;
  readonly clock: Clock;
  /** From the start of a machine to its node being Ready. Default 2 s. */
  readonly joinDelayMs?: number;
  /** Interval of the heartbeats of a node. Default 10 s, as kubelets. */
  readonly heartbeatMs?: number;
  /** A node without heartbeat for this long becomes Unknown. Default 40 s. */
  readonly silenceMs?: number;
  /** Deletes the Node of a machine that was removed, as a cloud controller manager does. Default false. */
  readonly removeWithVm?: boolean;
  /** How long after the removal of a machine `removeWithVm` deletes its Node. Default 10 s. */
  readonly removeAfterMs?: number;
  /** Faults, shared with the workloads, such as `clusterFaults` of an API server of this package. Default: none. */
  readonly clusterFaults?: ClusterFaults;
  readonly log?: Log;
}

/** Nodes that join and leave with their machines. */
export interface SimulatedNodes {
  /** Sets the machines. New machines join; the kubelets of missing ones stop. */
  sync(desired: readonly DesiredNode[]): void;
  /** Makes a node report that it is (not) ready, from its next heartbeat on. The node may join later. */
  setReady(nodeName: string, isReady: boolean): void;
  /** Runs until the signal aborts; resolves after the last call has ended. Never rejects: failed calls are retried. */
  start(signal: AbortSignal): Promise<void>;
}

interface SimulatedNode {
  readonly desired: DesiredNode;
  readonly dueMs: number;
  readonly hasJoined: boolean;
  /** The last status that was posted, as text to compare with; undefined when it is unknown. */
  readonly posted: string | undefined;
  readonly conditionTypes: readonly string[];
}

/** Whether two machines with one node name are the same. A machine without provider ID is identified by its system UUID. */
const isSameMachine = (one: DesiredNode, other: DesiredNode): boolean =>
  one.providerId === other.providerId && one.systemUuid === other.systemUuid;

const tickMs = 250;
const retryMs = 1_000;
const parallelCalls = 16;

/** Creates simulated nodes. Nothing happens before `start`. Existing Node objects are adopted. */
export function createSimulatedNodes(options: SimulatedNodesOptions): SimulatedNodes {
  const { api, clock, log = () => {} } = options;
  const { joinDelayMs = 2_000, heartbeatMs = 10_000, silenceMs = 40_000 } = options;
  const { removeWithVm = false, removeAfterMs = 10_000 } = options;
  const { clusterFaults = createClusterFaults() } = options;
  const kubelet = createKubelet(api, clock);
  const nodes = new Map<string, SimulatedNode>();
  const removals = createNodeRemovals(api, removeAfterMs, log);
  const notReady = new Set<string>();
  let lifecycleDueMs = 0;
  /** Whether the last pass had faults: those that ended change what nodes report, too. */
  let hadFaults = false;

  const current = () => clusterFaults.list().map(({ fault }) => fault);
  const wanted = (name: string, node: SimulatedNode): NodeState => {
    const own: Readiness = notReady.has(name) ? "False" : "True";
    return stateOf(name, own, current(), clock.now(), node.conditionTypes);
  };

  const advance = async (name: string, node: SimulatedNode, signal: AbortSignal): Promise<void> => {
    const update = (change: Partial<SimulatedNode>): void => {
      // A machine that was replaced or removed in the meantime is not restored.
      if (nodes.get(name)?.desired === node.desired) nodes.set(name, { ...node, ...change });
    };
    const state = wanted(name, node);
    const posted = JSON.stringify(state);
    const conditionTypes = state.conditions.map(({ type }) => type);
    try {
      if (!node.hasJoined) await kubelet.register(node.desired, state, signal);
      else if (node.posted !== posted && !(await kubelet.postStatus(node.desired, state, signal))) {
        // The Node was deleted while the kubelet runs. A kubelet does not register twice.
        update({ dueMs: clock.monotonicMs() + heartbeatMs, posted, conditionTypes });
        return;
      }
      await kubelet.renewLease(name, Math.ceil(silenceMs / 1000), signal);
      update({ hasJoined: true, posted, conditionTypes, dueMs: clock.monotonicMs() + heartbeatMs });
    } catch (error) {
      if (signal.aborted) return;
      const isGone = isNotFound(error) && node.hasJoined;
      update({ dueMs: clock.monotonicMs() + (isGone ? heartbeatMs : retryMs) });
      if (!isGone)
        log("debug", "simulated node: Failed to update the Node or its Lease, will retry", { node: name, error });
    }
  };

  const watchLifecycle = async (signal: AbortSignal): Promise<void> => {
    lifecycleDueMs = clock.monotonicMs() + Math.min(heartbeatMs, silenceMs / 4);
    try {
      const readiness = await markSilentNodes(api, clock, silenceMs, signal);
      for (const [name, node] of nodes) {
        const stored = readiness.get(name);
        // After a pause of the whole process, running nodes were marked Unknown. They report again.
        if (node.hasJoined && stored !== undefined && stored !== wanted(name, node).ready) {
          nodes.set(name, { ...node, posted: undefined, dueMs: 0 });
        }
      }
    } catch (error) {
      if (!signal.aborted) log("debug", "simulated nodes: Failed to check the nodes' leases, will retry", { error });
    }
  };

  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const now = clock.monotonicMs();
    const work: (() => Promise<void>)[] = [];
    const active = current();
    const mayChange = hadFaults || active.length > 0;
    hadFaults = active.length > 0;
    for (const [name, node] of nodes) {
      if (isKubeletStopped(name, active) || (!node.hasJoined && !mayJoin(name, active))) continue;
      // A change by a fault is reported at once, as a kubelet reports changes.
      const hasChanged = mayChange && node.posted !== undefined && node.posted !== JSON.stringify(wanted(name, node));
      if (node.dueMs <= now || hasChanged) work.push(() => advance(name, node, signal));
    }
    if (removeWithVm) work.push(...removals.due(now).map((name) => () => removals.remove(name, signal)));
    if (lifecycleDueMs <= now) work.push(() => watchLifecycle(signal));
    for (let start = 0; start < work.length; start += parallelCalls) {
      await Promise.all(work.slice(start, start + parallelCalls).map((run) => run()));
    }
  };

  return {
    sync(desired) {
      const now = clock.monotonicMs();
      const present = new Map(desired.map((node) => [node.nodeName, node]));
      for (const name of nodes.keys()) {
        if (present.has(name)) continue;
        nodes.delete(name);
        notReady.delete(name);
        removals.add(name, now);
      }
      for (const [name, node] of present) {
        removals.cancel(name);
        const known = nodes.get(name)?.desired;
        if (known !== undefined && isSameMachine(known, node)) continue;
        nodes.set(name, {
          desired: node,
          dueMs: now + joinDelayMs,
          hasJoined: false,
          posted: undefined,
          conditionTypes: [],
        });
      }
    },
    setReady(nodeName, isReady) {
      if (isReady) notReady.delete(nodeName);
      else notReady.add(nodeName);
      const node = nodes.get(nodeName);
      if (node?.hasJoined === true) nodes.set(nodeName, { ...node, dueMs: 0 });
    },
    async start(signal) {
      while (!signal.aborted) {
        await reconcile(signal);
        try {
          await clock.sleep(tickMs, signal);
        } catch {
          return;
        }
      }
    },
  };
}
