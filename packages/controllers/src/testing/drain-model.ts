import type { Budget, Pod } from "../model/node-objects.ts";
import type { DrainTerms, DrainView } from "../drain/drain-view.ts";
import type { DrainRecord } from "../drain/drain-record.ts";
import type { EvictionView } from "@millwright/kube";
import { decideDrain } from "../drain/decide-drain.ts";
import { volumesOf } from "../drain/volume-accounting.ts";
import { aNode } from "./builders.ts";
import { aClaim, aPod, aVolume } from "./drain-objects.ts";
import { aDrainView } from "./drain-views.ts";

/** A pod of a drain model, as random data describes it. */
export interface ModelPod {
  readonly app: number;
  readonly hasVolume: boolean;
  readonly priority: number;
  /** How long it takes to end, seconds; undefined: never by itself. */
  readonly endsAfter: number | undefined;
  /** How long its volume takes to detach, and to attach elsewhere, seconds; undefined: never. */
  readonly detachAfter: number | undefined;
  readonly attachAfter: number | undefined;
  /** Whether there is a node for its successor. */
  readonly hasRoom: boolean;
}

/** What happened in a model. */
export interface ModelRun {
  /** Milliseconds until the drain was over; undefined when it was not within its deadline and a second. */
  readonly tookMs: number | undefined;
  readonly isForced: boolean;
  /** Number of requested evictions. */
  readonly requested: number;
  /** Evictions that the budget rejected. */
  readonly rejected: number;
  /** Pods that were deleted past their budget before the time for that. */
  readonly violations: readonly string[];
  /** Reconciles that waited without a message why. */
  readonly silent: number;
  /** Most pods with volumes that were away at once. */
  readonly mostMoving: number;
  /** Evictions that were decided again over an unchanged view. */
  readonly repeated: number;
}

/**
 * A node with workloads in which time passes: pods end after their time, successors become healthy elsewhere and volumes move; evictions are granted by the true
 * budgets. `restarts`: reconciles after which the process loses its memory.
 */
export function runDrainModel(
  pods: readonly ModelPod[],
  minAvailable: number,
  terms: DrainTerms,
  restarts: ReadonlySet<number> = new Set(),
): ModelRun {
  const startMs = terms.startedAt;
  let nowMs = startMs;
  let node = aNode();
  let record: DrainRecord = { moves: [] };
  const evictions = new Map<string, EvictionView>();
  const nameOf = (index: number): string => `p${index}`;
  /** When each pod was evicted or deleted. */
  const evictedAt = new Map<number, number>();
  const violations: string[] = [];
  let requested = 0;
  let rejected = 0;
  let silent = 0;
  let mostMoving = 0;
  let repeated = 0;

  const endOf = (index: number): number => {
    const at = evictedAt.get(index);
    const after = pods[index]?.endsAfter;
    return at === undefined || after === undefined ? Number.POSITIVE_INFINITY : at + after * 1000;
  };
  const detachedOf = (index: number): number =>
    endOf(index) + (pods[index]?.detachAfter ?? Number.POSITIVE_INFINITY) * 1000;
  const hasRoom = (index: number): boolean => pods[index]?.hasRoom === true;
  const arrivedOf = (index: number): number =>
    detachedOf(index) + ((hasRoom(index) ? pods[index]?.attachAfter : undefined) ?? Number.POSITIVE_INFINITY) * 1000;
  const servesAgain = (index: number): boolean =>
    hasRoom(index) && nowMs >= (pods[index]?.hasVolume === true ? arrivedOf(index) : endOf(index) + 1000);
  const isHere = (index: number): boolean => nowMs < endOf(index);
  const healthy = (app: number): number =>
    pods.filter((pod, index) => pod.app === app && (!evictedAt.has(index) || servesAgain(index))).length;
  const expected = (app: number): number => pods.filter((pod) => pod.app === app).length;
  const apps = [...new Set(pods.map(({ app }) => app))];

  const podAt = (index: number): Pod =>
    aPod(nameOf(index), {
      metadata: {
        labels: { app: `app-${pods[index]?.app ?? 0}` },
        ...(evictedAt.has(index)
          ? { deletionTimestamp: new Date((evictedAt.get(index) ?? 0) + 30_000).toISOString() }
          : {}),
      },
      spec: {
        nodeName: "node",
        priority: pods[index]?.priority ?? 0,
        ...(pods[index]?.hasVolume === true
          ? { volumes: [{ name: "data", persistentVolumeClaim: { claimName: `data-${nameOf(index)}` } }] }
          : {}),
      },
    });
  const budgetOf = (app: number): Budget => ({
    metadata: { namespace: "default", name: `budget-${app}`, generation: 1 },
    spec: { selector: { matchLabels: { app: `app-${app}` } }, minAvailable },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: Math.max(0, healthy(app) - minAvailable),
      currentHealthy: healthy(app),
      desiredHealthy: minAvailable,
      expectedPods: expected(app),
    },
  });
  const indexes = pods.map((_, index) => index);
  const namesOf = (matches: (index: number) => boolean): string[] =>
    indexes.filter((index) => pods[index]?.hasVolume === true && matches(index)).map((index) => `pv-${nameOf(index)}`);
  const claimsOf = (matches: (index: number) => boolean): ReadonlySet<string> =>
    new Set(indexes.filter(matches).map((index) => `default/data-${nameOf(index)}`));

  const view = (): DrainView => {
    const here = indexes.filter(isHere).map(podAt);
    const volumes = new Map(
      here.map((pod) => [
        pod.metadata.uid ?? "",
        volumesOf(pod, {
          claim: (_, name) => aClaim(name, name.replace("data-", "pv-")),
          volume: aVolume,
          volumeId: () => undefined,
        }),
      ]),
    );
    return aDrainView({
      node,
      pods: here,
      budgets: apps.map(budgetOf),
      volumes,
      evictions,
      record,
      attached: {
        attachedHere: new Set(namesOf((index) => nowMs < detachedOf(index))),
        attachedElsewhere: new Set(namesOf((index) => nowMs >= arrivedOf(index))),
        wantedClaims: claimsOf((index) => evictedAt.has(index) && hasRoom(index)),
        unplacedClaims: claimsOf((index) => evictedAt.has(index) && !hasRoom(index)),
      },
    });
  };

  for (let reconcile = 0; nowMs <= terms.deadline + 1_000; reconcile++) {
    if (restarts.has(reconcile)) evictions.clear();
    const seen = view();
    const progress = decideDrain(seen, terms, new Date(nowMs));
    for (const action of progress.actions) {
      if (action.kind === "LookUpVolumeIds" || action.kind === "ReadPods") continue;
      const index = action.kind === "PatchNode" || action.kind === "RecordDrain" ? -1 : Number(action.name.slice(1));
      if (action.kind === "PatchNode") node = { ...node, spec: { ...node.spec, unschedulable: true } };
      else if (action.kind === "RecordDrain") ({ record } = action);
      else if (action.kind === "EvictPod") {
        requested++;
        const { app } = pods[index] ?? { app: 0 };
        if (healthy(app) - minAvailable > 0) {
          evictedAt.set(index, nowMs);
          evictions.set(action.uid, { state: "accepted" });
        } else {
          rejected++;
          evictions.set(action.uid, { state: "rejected", message: "budget", isBudget: true, retryAt: nowMs + 1_000 });
        }
      } else if (nowMs < terms.evictUntil && terms.mode === "normal") violations.push(action.name);
      else if (!evictedAt.has(index)) evictedAt.set(index, nowMs);
    }
    mostMoving = Math.max(
      mostMoving,
      indexes.filter((index) => pods[index]?.hasVolume === true && evictedAt.has(index) && nowMs < endOf(index)).length,
    );
    if (progress.state === "drained")
      return {
        tookMs: nowMs - startMs,
        isForced: progress.isForced,
        requested,
        rejected,
        violations,
        silent,
        mostMoving,
        repeated,
      };
    if (progress.message === undefined && indexes.some(isHere) && progress.actions.length === 0) silent++;
    const again = decideDrain(view(), terms, new Date(nowMs));
    repeated += again.actions.filter(
      ({ kind, ...rest }) => kind === "EvictPod" && "uid" in rest && evictions.get(rest.uid)?.state === "accepted",
    ).length;
    nowMs += Math.min(progress.requeueAfterMs, 2_000);
  }
  return { tookMs: undefined, isForced: false, requested, rejected, violations, silent, mostMoving, repeated };
}
