import { annotationKeys, machineDeploymentResource } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { approveDeletions } from "@millwright/runtime/reports";
import { namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import { poolName, type World } from "../world/world.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

const MINUTE = 60_000;
const pool = { namespace, name: poolName };

const patchPool = (world: World, patch: object): Promise<unknown> =>
  world.people.patch(machineDeploymentResource, pool, patch, { kind: "merge" }).catch(() => undefined);

/** Everything is approved until then, also that the machines that were lost are replaced. */
function approveUntil({ approvals, awaiting }: World, untilMs: number): void {
  approvals.untilMs = untilMs;
  awaiting.clear();
}

/** Approves what is held, or everything for a time. */
export async function approve(world: World, forMs?: number): Promise<string> {
  const { people: control, outside, approvals, awaiting, scheduler } = world;
  const selection = { kind: "deployment", name: poolName } as const;
  const { signal } = new AbortController();
  const options = { control, namespace, selection, forMs, isDryRun: false, clock: outside.clock, signal };
  const report = await approveDeletions(options).catch(() => undefined);
  const [approved] = report?.approved ?? [];
  if (approved === undefined) return "nothing to approve";
  const { machines, work, value } = approved;
  // Also what the garbage collector requested.
  if (work === "requests")
    for (const { metadata } of truthOf(world).machines())
      if (metadata.deletionTimestamp != null) world.requested.add(metadata.uid ?? "");
  if (machines === undefined) approveUntil(world, scheduler.nowMs() + (forMs ?? 0));
  else if (work === "creations") awaiting.clear();
  else {
    const of = `${truthOf(world).pool()?.metadata.uid}/${/generation=(\d+)/.exec(value)?.[1]}`;
    approvals.count += machines;
    approvals.ofGeneration.set(of, (approvals.ofGeneration.get(of) ?? 0) + machines);
  }
  return `approve deletions: ${value}`;
}

/** Approves that lost machines are replaced, once that is asked: a set that is scaled down meanwhile keeps their VMs until then. */
export function approveLosses(world: World): void {
  const isAsked = (): boolean =>
    JSON.stringify(truthOf(world).pool()?.status?.conditions ?? []).includes('"Lost Machines of MachineSet ');
  for (const minutes of [20, 60, 120])
    world.outside.clock.setTimer(minutes * MINUTE, () => void (isAsked() && approve(world)));
}

const act = (begin: (stage: FaultStage) => Promise<string>): FaultKind => ({ maxMs: 0, begin });

/** What is approved, and what is done meanwhile. */
export const approvalFaults = {
  "scale-far": act(async ({ world, choices }) => {
    const replicas = choices.oneOf([0, 1, 3, 5, 14, 18]);
    await patchPool(world, { spec: { replicas } });
    return `scale the fleet to ${replicas}`;
  }),
  "scale-in-error": {
    maxMs: 30 * MINUTE,
    async begin({ world }) {
      const replicas = truthOf(world).pool()?.spec.replicas ?? 0;
      await patchPool(world, { spec: { replicas: 0 } });
      return {
        what: "scale the fleet to 0 by mistake",
        end: () => void patchPool(world, { spec: { replicas } }),
      };
    },
  },
  approve: act(({ world }) => approve(world)),
  "approve-for-a-time": act(({ world, choices }) => approve(world, choices.oneOf([2, 10, 30]) * MINUTE)),
  /** A scale-down is approved and undone; the approval stays where it is, and the next scale-down is a mistake. */
  "approval-forgotten": {
    maxMs: 50 * MINUTE,
    async begin({ world, durationMs, choices }) {
      const { clock } = world.outside;
      const before = truthOf(world).pool()?.spec.replicas ?? 0;
      const [first, second] = [choices.below(2), choices.below(2)];
      const scale = (replicas: number): void => void patchPool(world, { spec: { replicas } });
      await patchPool(world, { spec: { replicas: first } });
      clock.setTimer(durationMs * 0.2, () => void approve(world));
      clock.setTimer(durationMs * 0.3, () => scale(before));
      clock.setTimer(durationMs * 0.7, () => scale(second));
      return {
        what: `scale the fleet to ${first}, approve it, scale to ${before}, and by mistake to ${second}`,
        end: () => scale(before),
      };
    },
  },
  /** A GitOps tool applies an approval with the manifest, again and again. */
  "approval-in-manifest": {
    maxMs: 60 * MINUTE,
    begin({ world, choices }) {
      const until = apiTime(new Date(world.outside.clock.now().getTime() + choices.between(1, 20) * MINUTE));
      const value =
        truthOf(world).pool()?.metadata.annotations?.[annotationKeys.approveDeletions] ??
        choices.oneOf([until, "true"]);
      let isOver = false;
      if (value === until)
        approveUntil(world, Date.parse(until) - world.outside.clock.now().getTime() + world.scheduler.nowMs());
      const apply = (): void => {
        if (isOver) return;
        void patchPool(world, { metadata: { annotations: { [annotationKeys.approveDeletions]: value } } });
        world.outside.clock.setTimer(3 * MINUTE, apply);
      };
      apply();
      return { what: `the manifest approves deletions: ${value}`, end: () => (isOver = true) };
    },
  },
  /** The cluster autoscaler lowers the target to the machines that it sees, as for those that never came. */
  "lower-replicas": {
    maxMs: 20 * MINUTE,
    async begin({ world }) {
      const truth = truthOf(world);
      const before = truth.pool()?.spec.replicas ?? 0;
      const replicas = Math.min(before, truth.machines().filter(({ spec }) => spec.providerID !== undefined).length);
      await patchPool(world, { spec: { replicas } });
      return {
        what: `the autoscaler lowers the fleet from ${before} to ${replicas}`,
        end: () => void patchPool(world, { spec: { replicas: before } }),
      };
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
