import { leaseNames } from "@millwright/core/machine-api";
import { leaseResource } from "@millwright/kube";
import { type ControllerProcess, namespace } from "../world/controller-process.ts";
import { truthOf } from "../world/truth.ts";
import type { FaultKind, FaultOutcome, FaultStage } from "./fault.ts";

const MINUTE = 60_000;

/** Mostly the one that leads: most happens there. */
function victim({ world, choices }: FaultStage): ControllerProcess | undefined {
  const leader = world.processes.find((process) => process.isLeader());
  return leader !== undefined && choices.chance(0.8) ? leader : choices.anyOf(world.processes);
}

/** Another manager of machines holds the second lease, and gives it back in the end. */
async function holdSecondLease({ world }: FaultStage): Promise<FaultOutcome> {
  const { people, outside } = world;
  const truth = truthOf(world);
  const ref = { namespace, name: leaseNames[1] ?? "" };
  const holderIdentity = "another-manager";
  let isOver = false;
  const renew = async (): Promise<void> => {
    if (isOver) return;
    const renewTime = outside.clock.now().toISOString().replace("Z", "000Z");
    // It takes the lease again when someone has deleted it, and one of the candidates has created it.
    const isHeld = truth.leaders(namespace)[1]?.holder === holderIdentity;
    const spec = { holderIdentity, leaseDurationSeconds: 120, leaseTransitions: 0, renewTime };
    const patch = { spec: isHeld ? spec : { ...spec, acquireTime: renewTime } };
    await people.patch(leaseResource, ref, patch, { kind: "merge" }).catch(() => undefined);
    outside.clock.setTimer(20_000, () => void renew());
  };
  await renew();
  const release = { spec: { holderIdentity: "", leaseDurationSeconds: 1 } };
  const end = (): void => {
    isOver = true;
    void people.patch(leaseResource, ref, release, { kind: "merge" }).catch(() => undefined);
  };
  return { what: "another manager takes the second lease", end };
}

/** Faults of the processes of the controllers. */
export const processFaults = {
  crash: {
    maxMs: 0,
    begin(stage) {
      const process = victim(stage);
      process?.crash();
      return `crash of ${process?.name}`;
    },
  },
  "crash-at-write": {
    maxMs: 10 * MINUTE,
    begin(stage) {
      const { world, choices } = stage;
      let left = choices.between(1, 12);
      const isCloud = choices.chance(0.5);
      const crash = (sender: string): void => {
        if (--left !== 0) return;
        // After the step in which the call arrives: its effect is there, its answer is not.
        world.outside.clock.setTimer(0, () => world.processes.find(({ name }) => sender.startsWith(name))?.crash());
      };
      world.listen({
        onRequest: ({ sender, method, path }) => {
          if (!isCloud && method !== "GET" && !/\/(?:leases|events)\b/.test(path)) crash(sender);
        },
        onCloudCall: ({ sender, operation }) => {
          if (isCloud && ["createVm", "deleteVm", "tagVm"].includes(operation)) crash(sender);
        },
      });
      return {
        what: `crash right after write ${left} to the ${isCloud ? "cloud" : "API server"}`,
        end: () => (left = 0),
      };
    },
  },
  terminate: {
    maxMs: 0,
    begin(stage) {
      const process = victim(stage);
      process?.terminate();
      return `SIGTERM for ${process?.name}`;
    },
  },
  stall: {
    maxMs: 3 * MINUTE,
    begin(stage) {
      const process = victim(stage);
      process?.stall(stage.durationMs);
      return `${process?.name} is paused for ${Math.round(stage.durationMs / 1000)} s`;
    },
  },
  "clock-jump": {
    maxMs: 0,
    begin(stage) {
      const process = victim(stage);
      const ms = stage.choices.oneOf([-3_600_000, -120_000, -5_000, 0, 5_000, 120_000, 3_600_000]);
      process?.skew(ms);
      return `the clock of ${process?.name} is off by ${ms / 1000} s`;
    },
  },
  "leases-deleted": {
    maxMs: 0,
    async begin({ world }) {
      for (const name of leaseNames)
        await world.people.delete(leaseResource, { namespace, name }).catch(() => undefined);
      return "someone deletes the leases";
    },
  },
  "foreign-leader": { maxMs: 15 * MINUTE, begin: holdSecondLease },
  "second-leader": {
    maxMs: 8 * MINUTE,
    begin({ world }) {
      const rogue = world.startRogue();
      return { what: "one more process acts without a lease", end: () => rogue.remove() };
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
