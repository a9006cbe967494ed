import { createVirtualClock } from "@millwright/core/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureClockSkew } from "../metrics/clock-skew.ts";
import { reportClockSkew } from "./report-clock-skew.ts";

/** The reports about the clocks of a control cluster and a target cluster. */
function setUp() {
  const clock = createVirtualClock();
  const ahead: { control: number | undefined; target: number } = { control: undefined, target: 0 };
  const times = { control: { aheadMs: () => ahead.control }, target: { aheadMs: () => ahead.target }, none: undefined };
  const lines: unknown[] = [];
  const recorded: string[] = [];
  const leading = { is: true };
  const stop = new AbortController();
  const ended = reportClockSkew(
    times,
    clock,
    {
      namespace: "shoot--a",
      log: (...line) => lines.push(line),
      events: {
        record: ({ metadata }, { type, reason, message }) =>
          recorded.push(`${metadata.name} ${type} ${reason}: ${message}`),
      },
      isLeading: () => leading.is,
    },
    stop.signal,
  );
  const end = async (): Promise<void> => {
    stop.abort(new Error("the test ends"));
    await ended;
  };
  return { clock, ahead, lines, recorded, leading, end };
}

it("logs a clock skew once for each API server, and its end", async () => {
  const { clock, ahead, lines, end } = setUp();
  ahead.target = -3_600_400;
  await clock.advance(60_000);
  const message = "The local clock differs from that of an API server; timeouts use the time of the API server";
  expect(lines).toEqual([["warn", message, { cluster: "target", aheadSeconds: -3_600 }]]);
  ahead.control = 5_000;
  await clock.advance(60_000);
  expect(lines).toHaveLength(1);
  ahead.control = 6_000;
  ahead.target = 0;
  await clock.advance(20_000);
  expect(lines.slice(1)).toEqual([
    ["warn", message, { cluster: "control", aheadSeconds: 6 }],
    ["info", "The local clock agrees with that of the API server again", { cluster: "target" }],
  ]);
  await end();
});

const behind =
  "shoot--a Warning ClockSkew: The clock of the controllers is 3600 s behind that of the API server of the target cluster. Synchronize the clocks of both hosts; timeouts use the time of the API server.";

it("records a clock skew as an event on the namespace, again every ten minutes, and its end", async () => {
  const { clock, ahead, recorded, end } = setUp();
  ahead.target = -3_600_400;
  await clock.advance(9 * 60_000);
  expect(recorded).toEqual([behind]);
  ahead.target = -3_700_000;
  await clock.advance(2 * 60_000);
  expect(recorded).toEqual([behind, behind]);
  ahead.target = 0;
  await clock.advance(60_000);
  expect(recorded.slice(2)).toEqual([
    "shoot--a Normal ClockSkewEnded: The clock of the controllers agrees with that of the API server of the target cluster.",
  ]);
  await end();
});

it("reports a skew close to the limit once", async () => {
  const { clock, ahead, lines, recorded, end } = setUp();
  for (let check = 0; check < 25; check++) {
    ahead.control = check % 2 === 0 ? 5_100 : 4_900;
    await clock.advance(20_000);
  }
  expect([lines.length, recorded.length]).toEqual([1, 1]);
  await end();
});

it("leaves events to the leader, which may be this process later", async () => {
  const { clock, ahead, recorded, leading, end } = setUp();
  leading.is = false;
  ahead.target = -3_600_400;
  await clock.advance(60_000);
  expect(recorded).toEqual([]);
  leading.is = true;
  await clock.advance(60_000);
  expect(recorded).toEqual([behind]);
  await end();
});

it("measures the clock skew of each API server that has sent a time", async () => {
  const registry = new Registry();
  measureClockSkew(registry, {
    control: { aheadMs: () => 3_600_500 },
    target: { aheadMs: () => undefined },
    other: undefined,
  });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("millwright_"));
  expect(lines).toEqual(['millwright_api_server_clock_skew_seconds{api_server="control"} 3600.5']);
});
