import { createVirtualClock } from "@millwright/core/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureClockSkew } from "./metrics/clock-skew.ts";
import { reportClockSkew } from "./report-clock-skew.ts";

it("logs a clock skew once for each API server, and its end", async () => {
  const clock = createVirtualClock();
  const ahead: { control: number | undefined; target: number } = { control: undefined, target: -3_600_400 };
  const times = { control: { aheadMs: () => ahead.control }, target: { aheadMs: () => ahead.target }, none: undefined };
  const lines: unknown[] = [];
  const stop = new AbortController();
  const ended = reportClockSkew(times, clock, (...line) => lines.push(line), stop.signal);
  await clock.advance(60_000);
  const message = "The local clock differs from that of an API server; timeouts use the time of the API server";
  expect(lines).toEqual([["warn", message, { cluster: "target", aheadSeconds: -3_600 }]]);
  ahead.control = 5_000;
  await clock.advance(60_000);
  expect(lines).toHaveLength(1);
  ahead.control = 6_000;
  ahead.target = 0;
  await clock.advance(5_000);
  expect(lines.slice(1)).toEqual([
    ["warn", message, { cluster: "control", aheadSeconds: 6 }],
    ["info", "The local clock agrees with that of the API server again", { cluster: "target" }],
  ]);
  stop.abort(new Error("the test ends"));
  await ended;
});

it("measures the clock skew of each API server that has sent a time", async () => {
  const registry = new Registry();
  measureClockSkew(registry, {
    control: { aheadMs: () => 3_600_500 },
    target: { aheadMs: () => undefined },
    other: undefined,
  });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("millwright_"));
  expect(lines).toEqual(['millwright_api_server_clock_skew_seconds{cluster="control"} 3600.5']);
});
