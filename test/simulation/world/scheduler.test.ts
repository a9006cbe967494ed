import { seededRandom } from "@millwright/base";
import { expect, it } from "vitest";
import { createScheduler } from "./scheduler.ts";

const aScheduler = () => createScheduler(seededRandom(1));

it("runs what is due in the order of its time, and lets promises that it resolves go on before the next one", async () => {
  const scheduler = aScheduler();
  const { clock } = scheduler.scope("a");
  const log: string[] = [];
  const wait = async (ms: number): Promise<void> => {
    await clock.sleep(ms);
    log.push(`${ms} at ${clock.monotonicMs()}`);
    await Promise.resolve();
    log.push(`after ${ms} at ${clock.monotonicMs()}`);
  };
  void wait(20);
  void wait(10);
  await scheduler.runUntil(15);
  expect(log).toEqual(["10 at 10", "after 10 at 10"]);
  await scheduler.runUntil(30);
  expect(log.slice(2)).toEqual(["20 at 20", "after 20 at 20"]);
  expect(scheduler.nowMs()).toBe(30);
});

it("lets nothing of a dead scope run, and nothing that it starts", async () => {
  const scheduler = aScheduler();
  const [dead, alive] = [scheduler.scope("dead"), scheduler.scope("alive")];
  const log: string[] = [];
  dead.clock.setTimer(10, () => log.push("dead"));
  alive.clock.setTimer(10, () => log.push("alive"));
  dead.kill();
  dead.clock.setTimer(5, () => log.push("dead, too"));
  await scheduler.runUntil(20);
  expect(log).toEqual(["alive"]);
});

it("runs what was due during a stall at its end", async () => {
  const scheduler = aScheduler();
  const scope = scheduler.scope("a");
  const times: number[] = [];
  scope.clock.setTimer(10, () => times.push(scope.clock.monotonicMs()));
  scope.stall(60);
  await scheduler.runUntil(100);
  expect(times).toEqual([60]);
});

it("shows a skewed scope another wall time, and the same durations", async () => {
  const scheduler = aScheduler();
  const [right, wrong] = [scheduler.scope("right"), scheduler.scope("wrong")];
  wrong.skew(-5_000);
  await scheduler.runUntil(100);
  expect(wrong.clock.now().getTime() - right.clock.now().getTime()).toBe(-5_000);
  expect(wrong.clock.monotonicMs()).toBe(100);
});

it("orders what is due at the same instant by its random source", async () => {
  const orderOf = async (seed: number): Promise<string> => {
    const scheduler = createScheduler(seededRandom(seed));
    const { clock } = scheduler.scope("a");
    const log: number[] = [];
    for (let index = 0; index < 8; index++) clock.setTimer(5, () => log.push(index));
    await scheduler.runUntil(10);
    return log.join("");
  };
  expect(await orderOf(1)).toBe(await orderOf(1));
  expect(new Set([await orderOf(1), await orderOf(2), await orderOf(3)]).size).toBe(3);
});

it("ends an endless loop within one instant with an error", async () => {
  const scheduler = aScheduler();
  const { clock } = scheduler.scope("a");
  const again = (): void => void clock.setTimer(0, again);
  again();
  await expect(scheduler.runUntil(1)).rejects.toThrow("endless loop");
});
