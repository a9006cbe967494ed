import {
  type Blocker,
  blockerLines,
  type Budget,
  budgetsOf,
  type BudgetVerdict,
  type Cordon,
  cordonOf,
  decideDrain,
  defaultMachineSettings,
  deletionStart,
  type DrainTerms,
  type DrainView,
  isForceDeletion,
  isForceDue,
  judgeBudgets,
  judgePod,
  type Pod,
  type PodVerdict,
  previewTerms,
  type TrackedVolume,
} from "@millwright/controllers/reports";
import type { Machine } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";

/** What a drain would do about one pod. */
export interface PodPreview {
  readonly namespace: string;
  readonly name: string;
  readonly verdict: PodVerdict;
  /** The verdict of its budgets; absent for pods that are not evicted. */
  readonly budget?: BudgetVerdict;
  /** Volumes to detach with it. */
  readonly volumes: readonly (TrackedVolume & { readonly isAttachedHere: boolean })[];
}

/** Pods that are evicted at once. */
export interface DrainStep {
  /** `evict`: budgets respected. `delete`: regardless of its budget. `kill`: without a grace period as well. */
  readonly how: "evict" | "delete" | "kill";
  /** Namespaces and names. */
  readonly pods: readonly string[];
  /** When the step has to wait for a deadline: its time, RFC 3339. */
  readonly at?: string;
}

/** The result of a drain that started, or continued, now. */
export interface DrainPreview {
  /** `completes`: by itself. `blocked`: not before a deadline, unless a user fixes what blocks it. `forced`: without evictions. */
  readonly outcome: "completes" | "blocked" | "forced";
  readonly pods: readonly PodPreview[];
  readonly steps: readonly DrainStep[];
  /** What blocks it until a deadline. */
  readonly blockedBy: readonly Blocker[];
  /** The same for people, one line each, as in the machine's status. */
  readonly because: readonly string[];
}

/** The simulated state: the view without the evicted pods. */
interface Scene {
  view: DrainView;
  nowMs: number;
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ""}/${metadata.name}`;
const uidOf = ({ metadata }: Pod): string => metadata.uid ?? "";

/** Whether it waits for a user, or for the deadline. */
const isForGood = (blocker: Blocker): boolean =>
  blocker.kind === "overdue" || (blocker.kind === "budget" && blocker.cause !== "waiting");

/** A pod without a controller is not recreated: its budget has one pod less. */
const withoutPod = (budget: Budget): Budget => {
  const { disruptionsAllowed = 0, currentHealthy = 0, expectedPods = 0 } = budget.status ?? {};
  return {
    ...budget,
    status: {
      ...budget.status,
      disruptionsAllowed: Math.max(0, disruptionsAllowed - 1),
      currentHealthy: Math.max(0, currentHealthy - 1),
      expectedPods: Math.max(0, expectedPods - 1),
    },
  };
};

/** The budget after its pods became healthy. */
const withRoom = (budget: Budget): Budget => ({
  ...budget,
  status: { ...budget.status, disruptionsAllowed: Math.max(1, budget.status?.disruptionsAllowed ?? 0) },
});

/** The view without the deleted pods, their volumes attached to other nodes. */
function leave(view: DrainView, deleted: ReadonlySet<string>): DrainView {
  const pods = view.pods.filter((pod) => !deleted.has(uidOf(pod)));
  const moved = view.pods.filter((pod) => deleted.has(uidOf(pod)));
  const still = new Set(pods.flatMap((pod) => (view.volumes.get(uidOf(pod)) ?? []).map(({ name }) => name)));
  const away = [
    ...moved.flatMap((pod) => view.volumes.get(uidOf(pod)) ?? []),
    ...view.record.moves.flatMap(({ uid, volumes }) => (pods.some((pod) => uidOf(pod) === uid) ? [] : volumes)),
  ].filter(({ name }) => !still.has(name));
  const names = new Set(away.map(({ name }) => name));
  const lonely = moved.filter((pod) => controllerRefOf(pod) === undefined && pod.metadata.deletionTimestamp == null);
  return {
    ...view,
    pods,
    budgets: lonely.reduce<readonly Budget[]>((budgets, pod) => {
      const concerned = new Set(budgetsOf(pod, budgets));
      return budgets.map((budget) => (concerned.has(budget) ? withoutPod(budget) : budget));
    }, view.budgets),
    attached: {
      ...view.attached,
      attachedHere: new Set([...view.attached.attachedHere].filter((name) => !names.has(name))),
      attachedElsewhere: new Set([...view.attached.attachedElsewhere, ...names]),
    },
  };
}

/** Advances the simulation to the next requeue: terminating pods are deleted, and budgets have the pods that they wait for. */
function moveOn(
  scene: Scene,
  evicted: ReadonlySet<string>,
  blockers: readonly Blocker[],
  requeueAfterMs: number,
): void {
  const { view } = scene;
  const leaving = new Set(
    blockers.filter(({ kind }) => kind === "leaving" || kind === "completion").map(({ pod }) => pod),
  );
  const deleted = new Set(
    view.pods.filter((pod) => evicted.has(uidOf(pod)) || leaving.has(keyOf(pod))).map((pod) => uidOf(pod)),
  );
  const waiting = new Set(
    blockers.flatMap((blocker) => (blocker.kind === "budget" && blocker.cause === "waiting" ? [blocker.pod] : [])),
  );
  const concerned = new Set(
    view.pods.filter((pod) => waiting.has(keyOf(pod))).flatMap((pod) => budgetsOf(pod, view.budgets)),
  );
  const budgets = view.budgets.map((budget) => (concerned.has(budget) ? withRoom(budget) : budget));
  scene.view = leave({ ...view, budgets }, deleted);
  // What is blocked permanently changes only at a deadline.
  if (deleted.size === 0 && concerned.size === 0) scene.nowMs += requeueAfterMs;
}

function previewPod(pod: Pod, view: DrainView, cordon: Cordon | undefined, now: Date): PodPreview {
  const verdict = judgePod(pod, view.rules, cordon, now);
  const volumes = (view.volumes.get(uidOf(pod)) ?? []).map((volume) => ({
    ...volume,
    isAttachedHere: view.attached.attachedHere.has(volume.name),
  }));
  const { namespace = "", name } = pod.metadata;
  const budget = verdict.behavior === "evict" ? { budget: judgeBudgets(pod, view.budgets) } : {};
  return { namespace, name, verdict, ...budget, volumes };
}

/** Budgets that block pods which an earlier step would reach only after a deadline. */
const budgetBlockers = (pods: readonly PodPreview[]): readonly Blocker[] =>
  pods.flatMap(({ namespace, name, budget }): readonly Blocker[] =>
    budget === undefined || budget.state === "free" || budget.state === "waiting"
      ? []
      : [{ kind: "budget", pod: `${namespace}/${name}`, cause: budget.state, message: budget.message }],
  );

/**
 * Simulates a drain by repeated decisions, in the best case: evicted pods are deleted at once, their replacements
 * healthy and their volumes attached, jobs complete, and budgets have the pods that they wait for. What still blocks the drain requires a user, or a deadline.
 */
export function simulateDrain(view: DrainView, terms: DrainTerms, now: Date): DrainPreview {
  // No driver is called here: only known volume ids are used.
  const scene: Scene = { view: { ...view, unknownVolumes: [], volumeIdsUntil: 0 }, nowMs: now.getTime() };
  const cordon = cordonOf(view.node, terms);
  const pods = view.pods
    .map((pod) => previewPod(pod, view, cordon, now))
    .toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  const steps: DrainStep[] = [];
  const blockedBy = new Map<string, Blocker>();
  const block = (blocker: Blocker): void => void blockedBy.set(`${blocker.kind} ${blocker.pod}`, blocker);

  let isOver = false;
  while (!isOver) {
    const progress = decideDrain(scene.view, terms, new Date(scene.nowMs));
    isOver = progress.state === "drained";
    const evicted = new Set<string>();
    const byHow = new Map<DrainStep["how"], string[]>();
    for (const action of progress.actions) {
      if (action.kind === "PatchNode") {
        const node = { ...scene.view.node, spec: { ...scene.view.node.spec, unschedulable: true } };
        scene.view = { ...scene.view, node };
      } else if (action.kind === "RecordDrain") scene.view = { ...scene.view, record: action.record };
      else if (action.kind === "EvictPod" || action.kind === "DeletePod") {
        const how = action.kind === "EvictPod" ? "evict" : action.atOnce ? "kill" : "delete";
        byHow.set(how, [...(byHow.get(how) ?? []), `${action.namespace}/${action.name}`]);
        evicted.add(action.uid);
      }
    }
    const at = scene.nowMs === now.getTime() ? {} : { at: new Date(scene.nowMs).toISOString() };
    steps.push(...[...byHow].map(([how, names]) => ({ how, pods: names, ...at })));
    if (progress.state === "draining") {
      progress.blockers.filter(isForGood).forEach(block);
      moveOn(scene, evicted, progress.blockers, progress.requeueAfterMs);
    }
  }

  const isForced = isForceDue(terms, now);
  if (!isForced && now.getTime() < terms.evictUntil) budgetBlockers(pods).forEach(block);
  const held = [...blockedBy.values()].toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
  const outcome = isForced ? "forced" : held.length > 0 ? "blocked" : "completes";
  return { outcome, pods, steps, blockedBy: held, because: blockerLines(held) };
}

/** What the drain before a deletion would do, and its deadlines. */
export interface DeletionDrainPreview {
  readonly terms: DrainTerms;
  readonly preview: DrainPreview;
}

/**
 * Simulates the drain of a deletion; when the machine is not being deleted, as if the deletion started now. Timeouts that the machine does not set are the
 * defaults: the flags of the controllers are unknown here.
 *
 * @param machine absent for a node without a machine
 */
export function previewDeletionDrain(machine: Machine | undefined, view: DrainView, now: Date): DeletionDrainPreview {
  const snapshot = {
    machine: machine ?? { metadata: { name: view.node.metadata.name }, spec: {} },
    settings: defaultMachineSettings,
  };
  const drain = {
    startedAt: deletionStart(snapshot) || now.getTime(),
    isDemanded: isForceDeletion(snapshot.machine),
    cordon: true,
  };
  const terms = previewTerms(snapshot, view.node, drain, now);
  return { terms, preview: simulateDrain(view, terms, now) };
}
