import type { Alteration } from "./world/controller-process.ts";
import { seededRandom } from "@millwright/base";
import type { Machine } from "@millwright/core/machine-api";
import { leaseResource } from "@millwright/kube";
import { approve } from "./faults/approvals.ts";
import { workLeft } from "./check/convergence.ts";
import { watchInvariants } from "./check/invariants.ts";
import type { ScheduledFault } from "./faults/fault.ts";
import { faultKinds, profiles, type Schedule } from "./faults/profiles.ts";
import { createChoices } from "./world/streams.ts";
import { type Truth, truthOf } from "./world/truth.ts";
import { createWorld, type World } from "./world/world.ts";

/** The outcome of a run. */
export interface SimulationResult {
  readonly schedule: Schedule;
  /** Empty when all is well. */
  readonly violations: readonly string[];
  /** What mattered, in order. */
  readonly timeline: readonly string[];
  /** Equal for two runs that did exactly the same. */
  readonly digest: string;
  /** Virtual time, milliseconds. */
  readonly virtualMs: number;
  /** Faults that began, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Machines that changed from one phase to another, by `Pending > Running`. */
  readonly transitions: Readonly<Record<string, number>>;
  /** What the controllers did, by `create machines`, `patch machines/status` or `cloud createVm`. */
  readonly actions: Readonly<Record<string, number>>;
}

/** Options of {@link simulate}. */
export interface SimulateOptions {
  /** A mistake of the controllers. */
  readonly alteration?: (() => Alteration) | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  /** After the last fault everything must be in order within this time, milliseconds; deletions that wait for approval take an hour. Default: six hours. */
  readonly settleMs?: number;
}

const MINUTE = 60_000;
const checkpointMs = 30_000;
const defaultSettleMs = 6 * 60 * MINUTE;
/** For so long it must stay in order, and each namespace have the same leader. */
const leastQuietMs = 10 * MINUTE;
/** Ten minutes after a Node was created, and five after its own start, a leader marks those of neighbours as not its own, once. */
const marksMs = 5 * MINUTE;
/** At the end of that time the controllers are at rest. */
const restMs = 4 * MINUTE;
/** Writes of all processes within that time, leases and events apart, beyond which they are not. */
const mostRestWrites = 4;
/** So often people approve what is held in the end. */
const approveEveryMs = 20 * MINUTE;
/** So long processes that start again at the end work. */
const restartedMs = 3 * MINUTE;

const count = (counts: Record<string, number>, key: string): void => void (counts[key] = (counts[key] ?? 0) + 1);

/** Lets the faults of a schedule happen at their times. */
function plan(world: World, faults: readonly ScheduledFault[], met: Record<string, number>): void {
  for (const { atMs, kind, durationMs, seed } of faults) {
    const definition = faultKinds[kind];
    if (definition === undefined) throw new Error(`there is no fault "${kind}"`);
    const begin = async (): Promise<void> => {
      const stage = { world, durationMs, choices: createChoices(seededRandom(seed)) };
      const outcome = await definition.begin(stage);
      count(met, kind);
      const text = typeof outcome === "string" ? outcome : outcome.what;
      world.transcript.add("note", "FAULT", `${kind}: ${text}`);
      if (typeof outcome === "string") return;
      world.outside.clock.setTimer(durationMs, () => {
        outcome.end();
        world.transcript.add("note", "FAULT", `${kind} ends`);
      });
    };
    world.outside.clock.setTimer(atMs - world.scheduler.nowMs(), () => void begin());
  }
}

/** Counts the changes of phases of machines. */
function watchTransitions(world: World, transitions: Record<string, number>): void {
  const phaseOf = (object: object): string => {
    // The schema of the CRD vouches for what is stored.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { status } = object as Pick<Machine, "status">;
    return status?.currentStatus?.phase ?? "none";
  };
  world.server.objects.subscribe(undefined, ({ collection, type, object, previous }) => {
    if (!collection.startsWith("machines.")) return;
    const [from, to] = [
      previous === undefined ? "none" : phaseOf(previous),
      type === "DELETED" ? "gone" : phaseOf(object),
    ];
    if (from === to) return;
    count(transitions, `${from} > ${to}`);
    world.transcript.add("note", "phase", `${object.metadata.name}: ${from} > ${to}`);
  });
}

const verbs: Readonly<Record<string, string>> = { POST: "create", PUT: "replace", PATCH: "patch", DELETE: "delete" };

/** Counts what the controllers do. */
function watchActions(world: World, actions: Record<string, number>): void {
  world.listen({
    onRequest({ method, path, status }) {
      const verb = verbs[method];
      if (verb === undefined || status >= 400) return;
      const [, resource = "", subresource] =
        /^\/api(?:s\/[^/]+)?\/[^/]+\/(?:namespaces\/[^/]+\/)?([^/?]+)(?:\/[^/?]+\/([^/?]+))?/.exec(path) ?? [];
      count(actions, `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`);
    },
    onCloudCall: ({ operation }) => count(actions, `cloud ${operation}`),
  });
}

/** The writes of the controllers after a time. */
function watchWrites(world: World): (sinceMs: number) => readonly string[] {
  const writes: { readonly atMs: number; readonly text: string }[] = [];
  world.listen({
    onRequest({ method, path, atMs }) {
      if (method !== "GET" && !/\/(?:leases|events)\b/.test(path)) writes.push({ atMs, text: `${method} ${path}` });
    },
  });
  return (sinceMs) => writes.filter(({ atMs }) => atMs > sinceMs).map(({ text }) => text);
}

/** When a lease changed its holder last. */
function watchLeaders({ server, scheduler }: World): () => number {
  const holders = new Map<string, string>();
  let changedMs = 0;
  server.objects.subscribe("leases.coordination.k8s.io", ({ key, object }) => {
    // The schema of leases vouches for what is stored.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { spec } = object as { readonly spec?: { readonly holderIdentity?: string } };
    const holder = spec?.holderIdentity ?? "";
    if (holders.get(key) !== holder) changedMs = scheduler.nowMs();
    holders.set(key, holder);
  });
  return () => changedMs;
}

/** Lets time pass until then, or until something holds. Resolves with whether it does. */
type Advance = (untilMs: number, isDone: () => boolean) => Promise<boolean>;

/** What is not in order after the faults have ended, however long one waits; nothing when an invariant is broken before. */
async function findUnrest({
  world: { scheduler, processes, people },
  truth,
  advance,
  isBroken,
  writesSince,
  leadersChangedMs,
  settleMs,
  quietMs,
}: {
  readonly world: World;
  readonly truth: Truth;
  readonly advance: Advance;
  readonly isBroken: () => boolean;
  readonly writesSince: (ms: number) => readonly string[];
  readonly leadersChangedMs: () => number;
  readonly settleMs: number;
  readonly quietMs: number;
}): Promise<readonly string[]> {
  let quietSinceMs = scheduler.nowMs();
  const isAtRest = (): boolean => {
    if (workLeft(truth).length > 0) quietSinceMs = scheduler.nowMs();
    return isBroken() || scheduler.nowMs() - Math.max(quietSinceMs, leadersChangedMs()) >= quietMs;
  };
  if (!(await advance(scheduler.nowMs() + settleMs, isAtRest)))
    return workLeft(truth).map((left) => `not converged: ${left}`);
  if (isBroken()) return [];
  const restless = writesSince(scheduler.nowMs() - restMs);
  if (restless.length > mostRestWrites)
    return [`${restless.length} writes while nothing was left to do: ${restless[0]}`];
  // A process that has just started reconciles everything: what it writes, the one before has left undone.
  const startedMs = scheduler.nowMs();
  for (const process of processes) process.crash();
  // They need not wait until the leases of those before them expire.
  for (const { namespace, name } of truth.leases())
    void people.delete(leaseResource, { namespace, name }).catch(() => undefined);
  await advance(startedMs + restartedMs, isBroken);
  const undone = writesSince(startedMs);
  return undone.length === 0 ? [] : [`${undone.length} writes of processes that started again: ${undone[0]}`];
}

/** People approve what is held, again and again. */
function approveFromNowOn(world: World): void {
  world.outside.clock.setTimer(approveEveryMs, () => {
    void approve(world);
    approveFromNowOn(world);
  });
}

/** Runs a schedule to its end, and checks everything on the way. */
export async function simulate(schedule: Schedule, options: SimulateOptions = {}): Promise<SimulationResult> {
  const profile = profiles[schedule.profile];
  if (profile === undefined) throw new Error(`there is no profile "${schedule.profile}"`);
  const { seed, replicas } = schedule;
  const world = await createWorld({
    seed,
    replicas,
    processes: profile.processes,
    hasPods: profile.hasPods,
    hasNeighbours: profile.hasNeighbours === true,
    ...options,
  });
  const truth = truthOf(world);
  const { scheduler } = world;
  const faults: Record<string, number> = {};
  const transitions: Record<string, number> = {};
  const actions: Record<string, number> = {};
  // Two processes that act at once may each create a machine that the other one does not see yet.
  const margin = "second-leader" in profile.kinds ? 2 : 0;
  const invariants = watchInvariants(world, truth, {
    margin,
    keepsAvailable: profile.keepsAvailable === true,
    holdsDeletions: profile.approvesInTheEnd === true,
  });
  if (profile.listLagMs !== undefined) world.cloudWire.addFault({ listLagMs: profile.listLagMs });
  watchTransitions(world, transitions);
  watchActions(world, actions);
  const writesSince = watchWrites(world);
  const leadersChangedMs = watchLeaders(world);
  plan(world, schedule.faults, faults);

  const advance: Advance = async (untilMs, isDone) => {
    while (scheduler.nowMs() < untilMs) {
      await scheduler.runUntil(Math.min(untilMs, scheduler.nowMs() + checkpointMs));
      invariants.checkpoint();
      if (isDone()) return true;
    }
    return false;
  };
  const isBroken = (): boolean => invariants.violations.length > 0;
  const lastMs = Math.max(0, ...schedule.faults.map(({ atMs, durationMs }) => atMs + durationMs));
  const faultsEndMs = schedule.faults.length === 0 ? profile.faultsMs : lastMs;
  const isEarly = await advance(faultsEndMs, isBroken);
  if (profile.approvesInTheEnd === true) approveFromNowOn(world);
  const { settleMs = defaultSettleMs } = options;
  const violations = isEarly
    ? []
    : await findUnrest({
        world,
        truth,
        advance,
        isBroken,
        writesSince,
        leadersChangedMs,
        settleMs,
        quietMs: leastQuietMs + (profile.hasNeighbours === true ? marksMs : 0),
      });
  for (const text of violations) world.transcript.add("note", "INVARIANT", text);
  const { transcript } = world;
  const result: SimulationResult = {
    schedule,
    violations: [...invariants.violations, ...violations],
    timeline: [...transcript.notes],
    digest: transcript.digest(),
    virtualMs: scheduler.nowMs(),
    faults: { ...faults },
    transitions: { ...transitions },
    actions: { ...actions },
  };
  await world.close();
  return result;
}
