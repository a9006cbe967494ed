import { expect, it } from "vitest";
import { checkTranscript } from "../../harness/transcripts.ts";
import { workLeft } from "../check/convergence.ts";
import { truthOf } from "../world/truth.ts";
import { createWorld, poolName } from "../world/world.ts";
import { lookAt } from "./look-at.ts";
import { situations, type Stage } from "./situations.ts";

const MINUTE = 60_000;

it.each(Object.entries(situations))("why, describe, the live table and top show: %s", async (name, situation) => {
  const { replicas, hasPods = false } = situation;
  const world = await createWorld({ seed: 1, replicas, processes: 1, hasPods, reportsPressure: true });
  const { scheduler } = world;
  const stage: Stage = {
    world,
    run: (ms) => scheduler.runUntil(scheduler.nowMs() + ms),
    async settle(work) {
      let isSettled = false;
      const settled = (): void => void (isSettled = true);
      work.then(settled, settled);
      await scheduler.runUntil(scheduler.nowMs() + MINUTE, () => isSettled);
      return work;
    },
  };
  try {
    await stage.run(5 * MINUTE);
    expect(workLeft(truthOf(world))).toEqual([]);
    const subject = (await situation.stage(stage)) ?? `mcd/${poolName}`;
    const shown = await lookAt(world, subject, stage.settle);
    await checkTranscript(`situations/${name}`, ...shown);
  } finally {
    await world.close();
  }
});
