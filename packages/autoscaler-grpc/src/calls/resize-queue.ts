import type { Clock, Random } from "@millwright/base";
import { annotationKeys, type MachineDeployment, machineDeploymentResource } from "@millwright/core/machine-api";
import { type ApiClient, keyOf, type Log, retryConflicts } from "@millwright/kube";
import type { ResizePlan } from "../groups/plan-resize.ts";
import { CallError } from "../wire/call-error.ts";
import type { Group } from "./groups.ts";

/** With what deployments are read and changed. */
export interface ResizeTools {
  readonly control: Pick<ApiClient, "get" | "patch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Decides a change from the deployment as it is at the API server, with the changes of calls before it in the same write. */
export type PlanResize = (current: MachineDeployment) => ResizePlan | Promise<ResizePlan>;

/** A call that waits for its change. */
interface Waiting {
  readonly group: Group;
  readonly plan: PlanResize;
  readonly signal: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Changes of deployments, one write at a time for each: what is requested meanwhile goes into the next one. */
export interface ResizeQueue {
  /** Resolves when the change is stored, or is none. @throws CallError, ApiError, the reason of `signal` */
  change(group: Group, plan: PlanResize, signal: AbortSignal): Promise<void>;
}

/** Reads a deployment from the API server: two calls in a row must not compute from the same size of a cache. */
export const readDeployment = (
  { control }: Pick<ResizeTools, "control">,
  { deployment: { metadata } }: Group,
  signal: AbortSignal,
): Promise<MachineDeployment> =>
  control.get<MachineDeployment>(
    machineDeploymentResource,
    { namespace: metadata.namespace, name: metadata.name },
    { signal },
  );

/** Aborts once all do. */
function allAborted(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const check = (): void => {
    const [first] = signals;
    if (signals.every(({ aborted }) => aborted)) controller.abort(first?.reason);
  };
  for (const signal of signals) signal.addEventListener("abort", check, { once: true });
  check();
  return controller.signal;
}

/** The deployment after a change. */
const after = (current: MachineDeployment, { replicas, annotations }: ResizePlan & { kind: "change" }) => ({
  ...current,
  metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
  spec: { ...current.spec, replicas },
});

/** Makes the queue of all groups of the process. */
export function createResizeQueue(tools: ResizeTools): ResizeQueue {
  const { control, clock, random, log } = tools;
  /** By id of the group, while one of its writes is in flight. */
  const queues = new Map<string, Waiting[]>();

  /** Plans the changes of calls one after another, and stores them in one write. Resolves with how each call ends. */
  const changeOnce = async (calls: readonly Waiting[], signal: AbortSignal): Promise<readonly (() => void)[]> => {
    const [first] = calls;
    if (first === undefined) return [];
    const before = await readDeployment(tools, first.group, signal);
    const { namespace, name, resourceVersion, uid } = before.metadata;
    let current = before;
    const annotations: Record<string, string> = {};
    const ends: (() => void)[] = [];
    for (const call of calls.filter((each) => !each.signal.aborted)) {
      const change = await call.plan(current);
      ends.push(
        change.kind === "rejected"
          ? () => call.reject(new CallError(change.code, `MachineDeployment ${name}: ${change.message}`))
          : call.resolve,
      );
      if (change.kind !== "change") continue;
      current = after(current, change);
      Object.assign(annotations, change.annotations);
    }
    if (current === before) return ends;
    const { replicas } = current.spec;
    const patch = {
      ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
      spec: { replicas },
    };
    await control.patch(machineDeploymentResource, { namespace, name }, patch, {
      kind: "merge",
      resourceVersion,
      uid,
      signal,
    });
    const named = annotations[annotationKeys.triggerDeletion];
    log("info", "The cluster autoscaler changed the size of a deployment", {
      kind: "MachineDeployment",
      namespace,
      name,
      because: `replicas ${before.spec.replicas ?? 0} -> ${replicas ?? 0}${named === undefined ? "" : `; to delete: ${named}`}`,
    });
    return ends;
  };

  const work = async (id: string, queue: Waiting[]): Promise<void> => {
    for (let calls = queue.splice(0); calls.length > 0; calls = queue.splice(0)) {
      const signal = allAborted(calls.map((call) => call.signal));
      try {
        const ends = await retryConflicts(() => changeOnce(calls, signal), { clock, random, signal });
        for (const end of ends) end();
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    queues.delete(id);
  };

  return {
    change: (group, plan, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        const call = { group, plan, signal, resolve, reject };
        const id = keyOf(group.deployment);
        const queue = queues.get(id);
        if (queue !== undefined) return void queue.push(call);
        const begun = [call];
        queues.set(id, begun);
        void work(id, begun);
      }),
  };
}
