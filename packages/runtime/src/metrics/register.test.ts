import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { registerIn } from "./register.ts";

it("adds up values with the same labels at each scrape, and removes series that are not read any more", async () => {
  const registry = new Registry();
  let colors = ["red", "blue", "red"];
  registerIn(registry).gauge("things", "Things.", ["color"], () => colors.map((color) => [{ color }, 1]));
  const twice = [await metricLines(registry), await metricLines(registry)];
  const lines = ['things{color="red"} 2', 'things{color="blue"} 1'];
  expect(twice).toEqual([lines, lines]);
  colors = ["blue"];
  expect(await metricLines(registry)).toEqual(['things{color="blue"} 1']);
});

it("keeps what was set where nothing is read", async () => {
  const registry = new Registry();
  const counter = registerIn(registry).counter("things_total", "Things.", ["color"], () => undefined);
  counter.inc({ color: "red" });
  expect(await metricLines(registry)).toEqual(['things_total{color="red"} 1']);
});
