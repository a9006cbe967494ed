import { setImmediate } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { checkTranscript, type Shown } from "../../harness/transcripts.ts";
import { workLeft } from "../check/convergence.ts";
import { truthOf } from "../world/truth.ts";
import { createWorld, poolName, type World } from "../world/world.ts";
import { type Asked, lookAt, lookFor } from "./look-at.ts";
import { refusedWrites } from "./refused-writes.ts";
import { situations } from "./situations.ts";
import { MINUTE, type Situation, type Situations, type Stage } from "./staging.ts";
import { stuckCreations } from "./stuck-creations.ts";
import { stuckDeletions } from "./stuck-deletions.ts";
import { stuckGroups } from "./stuck-groups.ts";

type Look = (world: World, asked: Asked) => Promise<readonly Shown[]>;

/** Brings a situation about, and lets people look at it. */
async function show(situation: Situation, look: Look): Promise<readonly Shown[]> {
  const { replicas, hasPods = false, driver } = situation;
  const more = driver === undefined ? [] : [driver];
  const world = await createWorld({
    seed: 1,
    replicas,
    processes: 1,
    hasPods,
    reportsPressure: true,
    alteration: () => ({ manager: ({ drivers, ...options }) => ({ ...options, drivers: [...drivers, ...more] }) }),
  });
  const { scheduler } = world;
  const stage: Stage = {
    world,
    run: (ms) => scheduler.runUntil(scheduler.nowMs() + ms),
    async settle(work) {
      let isSettled = false;
      const settled = (): void => void (isSettled = true);
      work.then(settled, settled);
      const untilSettled = async (): Promise<void> => {
        await scheduler.runUntil(scheduler.nowMs() + MINUTE, () => isSettled);
        if (isSettled) return;
        // What is not simulated, such as the loading of a module.
        await setImmediate();
        return untilSettled();
      };
      await untilSettled();
      return work;
    },
  };
  try {
    await stage.run(5 * MINUTE);
    expect(workLeft(truthOf(world))).toEqual([]);
    const subject = (await situation.stage(stage)) ?? `mcd/${poolName}`;
    return await look(world, { subject, settle: stage.settle, driver });
  } finally {
    await world.close();
  }
}

const play = async (name: string, situation: Situation, look: Look): Promise<void> =>
  checkTranscript(`situations/${name}`, ...(await show(situation, look)));

const lookAround: Look = async (world, asked) => [
  ...(await lookFor(world, asked)),
  ...(await lookAt(world, asked.settle)),
];

// A module takes virtual time when it is loaded with its first use.
beforeAll(async () => {
  for (const situation of Object.values(situations).slice(0, 1)) await show(situation, lookAround);
});

const stuck: Situations = { ...stuckCreations, ...stuckDeletions, ...stuckGroups, ...refusedWrites };

it.each(Object.entries(situations))(
  "kubectl, why, doctor, describe, the live table and top show: %s",
  async (name, situation) => {
    await expect(play(name, situation, lookAround)).resolves.toBeUndefined();
  },
);

it.each(Object.entries(stuck))("kubectl, why and doctor show: %s", async (name, situation) => {
  await expect(play(name, situation, lookFor)).resolves.toBeUndefined();
});
