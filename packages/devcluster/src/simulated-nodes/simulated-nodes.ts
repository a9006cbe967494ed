import { type ApiClient, isNotFound, nodeResource } from "@millwright/kube";
import type { Clock } from "@millwright/base";
import type { Log } from "@millwright/kube";
import { createKubelet } from "./kubelet.ts";
import { markSilentNodes } from "./node-lifecycle.ts";
import type { DesiredNode, NodeState, Readiness } from "./node-object.ts";
import { createTroubles, type Troubles } from "../cluster-faults/cluster-faults.ts";
import { isSilenced, mayJoin, stateOf } from "./node-faults.ts";

/** Options of {@link createSimulatedNodes}. */
export interface SimulatedNodesOptions {
  /** A client of any API server: this package's own, or a real one. */
  readonly api: ApiClient;
  readonly clock: Clock;
  /** From the machine being there to its node being Ready. Default 2 s. */
  readonly joinDelayMs?: number;
  /** Between two heartbeats of a node. Default 10 s, as a kubelet. */
  readonly heartbeatMs?: number;
  /** A node without heartbeat for this long becomes Unknown. Default 40 s. */
  readonly silenceMs?: number;
  /** Deletes the Node of a machine that is gone, as a cloud controller manager does. Default false. */
  readonly removeWithVm?: boolean;
  /** How long a machine is gone before `removeWithVm` deletes its Node. Default 10 s. */
  readonly removeAfterMs?: number;
  /** What goes wrong on demand, shared with the workloads: `server.troubles` of an API server of ours. Default: nothing. */
  readonly troubles?: Troubles;
  readonly log?: Log;
}

/** Nodes that join and leave with their machines. */
export interface SimulatedNodes {
  /** Says which machines there are now. Machines that are new join, those that are missing fall silent. */
  sync(desired: readonly DesiredNode[]): void;
  /** Makes a node report that it is (not) ready, from its next heartbeat on. Unknown names wait for their node. */
  setReady(nodeName: string, isReady: boolean): void;
  /** Runs until the signal aborts; resolves after the last call has ended. Never rejects: failed calls are tried again. */
  start(signal: AbortSignal): Promise<void>;
}

interface SimulatedNode {
  readonly desired: DesiredNode;
  readonly dueMs: number;
  readonly hasJoined: boolean;
  /** What was posted last, as a text to compare with; undefined when that is not known. */
  readonly posted: string | undefined;
  readonly conditionTypes: readonly string[];
}

/** Whether two machines of one node name are one. A machine without provider id is known by its firmware. */
const isSameMachine = (one: DesiredNode, other: DesiredNode): boolean =>
  one.providerId === other.providerId && one.systemUuid === other.systemUuid;

const tickMs = 250;
const retryMs = 1_000;
const parallelCalls = 16;

/** Creates simulated nodes. Nothing happens before `start`. Node objects that exist already are taken over. */
export function createSimulatedNodes(options: SimulatedNodesOptions): SimulatedNodes {
  const { api, clock, log = () => {} } = options;
  const { joinDelayMs = 2_000, heartbeatMs = 10_000, silenceMs = 40_000 } = options;
  const { removeWithVm = false, removeAfterMs = 10_000 } = options;
  const { troubles = createTroubles() } = options;
  const kubelet = createKubelet(api, clock);
  const nodes = new Map<string, SimulatedNode>();
  const goneSinceMs = new Map<string, number>();
  const notReady = new Set<string>();
  let lifecycleDueMs = 0;

  const current = () => troubles.list().map(({ trouble }) => trouble);
  const wanted = (name: string, node: SimulatedNode): NodeState => {
    const own: Readiness = notReady.has(name) ? "False" : "True";
    return stateOf(name, own, current(), clock.now(), node.conditionTypes);
  };

  const advance = async (name: string, node: SimulatedNode, signal: AbortSignal): Promise<void> => {
    const update = (change: Partial<SimulatedNode>): void => {
      // A machine that was replaced or left in the meantime is not brought back.
      if (nodes.get(name)?.desired === node.desired) nodes.set(name, { ...node, ...change });
    };
    const state = wanted(name, node);
    const posted = JSON.stringify(state);
    const conditionTypes = state.conditions.map(({ type }) => type);
    try {
      if (!node.hasJoined) await kubelet.register(node.desired, state, signal);
      else if (node.posted !== posted && !(await kubelet.postStatus(node.desired, state, signal))) {
        // The Node was deleted under a living kubelet, which does not register a second time.
        update({ dueMs: clock.monotonicMs() + heartbeatMs, posted, conditionTypes });
        return;
      }
      await kubelet.renewLease(name, Math.ceil(silenceMs / 1000), signal);
      update({ hasJoined: true, posted, conditionTypes, dueMs: clock.monotonicMs() + heartbeatMs });
    } catch (error) {
      if (signal.aborted) return;
      const isGone = isNotFound(error) && node.hasJoined;
      update({ dueMs: clock.monotonicMs() + (isGone ? heartbeatMs : retryMs) });
      if (!isGone) log("debug", "simulated node: call failed and will be tried again", { node: name, error });
    }
  };

  const remove = async (name: string, signal: AbortSignal): Promise<void> => {
    try {
      await api.delete(nodeResource, { name }, { signal });
      goneSinceMs.delete(name);
    } catch (error) {
      if (isNotFound(error)) goneSinceMs.delete(name);
      else if (!signal.aborted)
        log("debug", "simulated node: removal failed and will be tried again", { node: name, error });
    }
  };

  const watchLifecycle = async (signal: AbortSignal): Promise<void> => {
    lifecycleDueMs = clock.monotonicMs() + Math.min(heartbeatMs, silenceMs / 4);
    try {
      const readiness = await markSilentNodes(api, clock, silenceMs, signal);
      for (const [name, node] of nodes) {
        const stored = readiness.get(name);
        // After a pause of the whole process its living nodes were called silent: they speak up again.
        if (node.hasJoined && stored !== undefined && stored !== wanted(name, node).ready) {
          nodes.set(name, { ...node, posted: undefined, dueMs: 0 });
        }
      }
    } catch (error) {
      if (!signal.aborted) log("debug", "simulated nodes: lifecycle pass failed and will be tried again", { error });
    }
  };

  const pass = async (signal: AbortSignal): Promise<void> => {
    const now = clock.monotonicMs();
    const work: (() => Promise<void>)[] = [];
    const active = current();
    for (const [name, node] of nodes) {
      if (isSilenced(name, active) || (!node.hasJoined && !mayJoin(name, active))) continue;
      // A trouble that comes, goes or flaps is reported at once, as a kubelet reports what changes.
      const isNews = node.posted !== undefined && node.posted !== JSON.stringify(wanted(name, node));
      if (node.dueMs <= now || isNews) work.push(() => advance(name, node, signal));
    }
    if (removeWithVm) {
      for (const [name, since] of goneSinceMs) if (now - since >= removeAfterMs) work.push(() => remove(name, signal));
    }
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
        goneSinceMs.set(name, now);
      }
      for (const [name, node] of present) {
        goneSinceMs.delete(name);
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
        await pass(signal);
        try {
          await clock.sleep(tickMs, signal);
        } catch {
          return;
        }
      }
    },
  };
}
