import type { Truth } from "../world/truth.ts";
import { otherProcessName, type World } from "../world/world.ts";
import { watchApprovals } from "./approval-invariants.ts";
import { watchAvailability } from "./availability.ts";
import { watchBudget } from "./budget-invariants.ts";
import { checkExplanations, watchSecrets } from "./explanations.ts";
import { watchLosses } from "./loss-invariants.ts";
import { watchPause } from "./pause.ts";
import { watchPodInvariants } from "./pod-invariants.ts";
import { watchVms } from "./vm-invariants.ts";
import { watchWrites } from "./write-invariants.ts";

/** What must hold at every moment, whatever fails. */
export interface InvariantWatch {
  /** Checks what no event shows. */
  checkpoint(): void;
  /** Violations so far, each once, with the virtual time of the first. */
  readonly violations: readonly string[];
}

/** What is allowed. */
export interface Allowance {
  /** Machines beyond desired, those that were lost and a surge of one for each deployment; two processes that both act may each create one. */
  readonly margin: number;
  /** Whether no machine fails by itself, so that the promised number is always available. */
  readonly keepsAvailable: boolean;
  /** Whether deletions may wait for an approval, so that machines stay that are not desired any more. */
  readonly holdsDeletions: boolean;
}

/** While processes lead, their caches may lag behind a change of the desired replicas for so long. */
const scaleGraceMs = 10 * 60_000;

/** Measures for how long each namespace has had a leader: without one, no one scales. */
function followLeaders({ processes, scheduler, listen }: World): () => number {
  const namespaces = [...Map.groupBy(processes, ({ name }) => name.startsWith(otherProcessName)).values()];
  const isLed = (): boolean => namespaces.every((each) => each.some((process) => process.isLeader()));
  let ledMs = 0;
  let last = { atMs: scheduler.nowMs(), isLed: false };
  const measure = (): number => {
    const now = { atMs: scheduler.nowMs(), isLed: isLed() };
    if (last.isLed && now.isLed) ledMs += now.atMs - last.atMs;
    last = now;
    return ledMs;
  };
  listen({ onRequest: measure });
  return measure;
}

/** Follows the largest number of machines that was desired lately, and of how many deployments. */
function followDesired(truth: Truth, ledMs: () => number, graceMs: number) {
  const desired: { readonly replicas: number; untilMs: number }[] = [];
  /** By name: a deployment whose object is lost is still wanted. */
  const ofPools = new Map<string, number>();
  const most = (): number => {
    for (const { metadata, spec } of truth.pools())
      ofPools.set(`${metadata.namespace}/${metadata.name}`, spec.replicas ?? 0);
    const replicas = [...ofPools.values()].reduce((total, each) => total + each, 0);
    const untilMs = ledMs();
    const last = desired.at(-1);
    if (last?.replicas === replicas) last.untilMs = untilMs;
    else desired.push({ replicas, untilMs });
    while ((desired[0]?.untilMs ?? untilMs) < untilMs - graceMs) desired.shift();
    return Math.max(...desired.map((each) => each.replicas));
  };
  return { most, pools: (): number => ofPools.size };
}

/** Watches a world from now on. */
export function watchInvariants(
  world: World,
  truth: Truth,
  { margin, keepsAvailable, holdsDeletions }: Allowance,
): InvariantWatch {
  const violations = new Set<string>();
  const report = (text: string): void => {
    if (violations.has(text)) return;
    violations.add(text);
    world.transcript.add("note", "INVARIANT", text);
  };
  const desired = followDesired(truth, followLeaders(world), holdsDeletions ? Number.POSITIVE_INFINITY : scaleGraceMs);
  const checkVms = watchVms(world, truth, report, () => desired.most() + desired.pools() + margin + world.lost.size);
  watchWrites(world, truth, report, desired.most);
  watchPause(world, truth, report);
  watchPodInvariants(world, truth, report);
  watchLosses(world, truth, report, margin);
  watchBudget(world, truth, report);
  watchApprovals(world, truth, report);
  watchSecrets(world, report);
  if (keepsAvailable) watchAvailability(world, truth, report);
  return {
    checkpoint() {
      checkVms();
      checkExplanations(world, truth, report);
    },
    get violations() {
      return [...violations];
    },
  };
}
