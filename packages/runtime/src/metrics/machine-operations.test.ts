import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { measureOperations } from "./operations.ts";

it("counts operations by kind and state, and shows 0 where there are none any more", async () => {
  const registry = new Registry();
  const waiting = { kind: "create", state: "waiting" } as const;
  const running = { kind: "delete", state: "running" } as const;
  let unfinished: readonly (typeof waiting | typeof running)[] = [waiting, running, waiting];
  measureOperations(registry, "shoot", { openCircuits: () => [], unfinished: () => unfinished });
  const notZero = async () => (await metricLines(registry)).filter((line) => !line.endsWith(" 0"));
  expect(await notZero()).toEqual([
    'millwright_machine_operations{operation="create",state="waiting"} 2',
    'millwright_machine_operations{operation="delete",state="running"} 1',
  ]);
  unfinished = [];
  expect(await notZero()).toEqual([]);
  expect(await metricLines(registry)).toHaveLength(16);
});
