import { machineResource } from "@millwright/core/machine-api";
import { podResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { aPod } from "../testing/drain-objects.ts";
import { aFleet, fleetOf, nodeOf } from "../testing/machine-fleet.ts";
import { usedMs } from "../testing/processor-time.ts";
import { refOf } from "../testing/builders.ts";

const [NODES, PODS] = [100, 100];

/** What is done in so many milliseconds of virtual time counts as one turn of the event loop. */
const TURN_MS = 5;
const SECONDS = 10;

/** What one turn took: reconciles, and processor time in milliseconds. */
interface Turn {
  readonly reconciles: number;
  readonly usedMs: number;
}

/** What all turns but one in a hundred stay below. */
const p99 = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * 0.99)] ?? Number.NaN;

/**
 * In virtual time a busy computer has as much to do in a turn as an idle one, whatever its own time. With `MILLWRIGHT_MEASURE=1` it logs the measurements:
 * `MILLWRIGHT_MEASURE=1 npx vitest run --project controllers many-drains`.
 */
it("a hundred nodes that are drained at once leave the event loop free, at the rate of one queue", async () => {
  const machines = fleetOf(NODES);
  const { api, clock, reconciles, pendingEvictions } = await aFleet(machines, {}, (api) => {
    for (const name of Object.keys(machines))
      for (let index = 0; index < PODS; index++)
        api.seed(podResource, { ...aPod(`${name}-${index}`, { spec: { nodeName: nodeOf(name).name } }) });
  });
  const evicted = (): number => api.writes().filter(({ subresource }) => subresource === "eviction").length;
  api.calls.length = 0;
  const atFirst = reconciles();
  for (const name of Object.keys(machines)) await api.delete(machineResource, refOf(name));
  await clock.advance(1_000);
  // All orders are given, and wait in the queue.
  expect(evicted() + pendingEvictions()).toBe(NODES * PODS);
  expect((reconciles() - atFirst) / NODES).toBeLessThanOrEqual(5);

  api.calls.length = 0;
  const before = reconciles();
  const turns: Turn[] = [];
  for (let second = 1; second <= SECONDS; second++) {
    for (let ms = 0; ms < 1_000; ms += TURN_MS) {
      const [passed, used] = [reconciles(), usedMs()];
      await clock.advance(TURN_MS);
      turns.push({ reconciles: reconciles() - passed, usedMs: usedMs() - used });
    }
    // Over all drains.
    expect(evicted()).toBe(100 * second);
  }
  const [reconcilesP99, usedMsP99] = [p99(turns.map((turn) => turn.reconciles)), p99(turns.map((turn) => turn.usedMs))];
  const perEviction = { reconciles: (reconciles() - before) / evicted(), writes: api.writes().length / evicted() };
  if (process.env["MILLWRIGHT_MEASURE"] !== undefined)
    console.log({
      reconcilesP99,
      usedMsP99,
      mostReconciles: Math.max(...turns.map((turn) => turn.reconciles)),
      perEviction,
    });
  // A deleted pod enqueues the machine of its node, and no other.
  expect(perEviction.reconciles).toBeLessThanOrEqual(3);
  expect(perEviction.writes).toBeLessThanOrEqual(1.5);
  expect(reconcilesP99).toBeLessThanOrEqual(10);
  expect(usedMsP99).toBeLessThan(50);
});
