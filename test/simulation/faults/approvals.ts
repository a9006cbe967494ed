import { annotationKeys, machineDeploymentResource } from "@millwright/core";
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

/** Approves what is held, or everything for a time. */
export async function approve(
  { people: control, outside, approvals, scheduler }: World,
  forMs?: number,
): Promise<string> {
  const selection = { kind: "deployment", name: poolName } as const;
  const { signal } = new AbortController();
  const options = { control, namespace, selection, forMs, isDryRun: false, clock: outside.clock, signal };
  const report = await approveDeletions(options).catch(() => undefined);
  const [approved] = report?.approved ?? [];
  if (approved === undefined) return "nothing to approve";
  if (approved.machines === undefined) approvals.untilMs = scheduler.nowMs() + (forMs ?? 0);
  else approvals.count += approved.machines;
  return `approve deletions: ${approved.value}`;
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
        world.approvals.untilMs = Date.parse(until) - world.outside.clock.now().getTime() + world.scheduler.nowMs();
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
