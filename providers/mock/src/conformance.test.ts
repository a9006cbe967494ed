import { defineConformance } from "@millwright/conformance";
import { systemClock } from "@millwright/core";
import { afterAll, describe, it } from "vitest";
import mockFixture from "./testing/mock-fixture.ts";

/** The driver polls every 100 ms; here ten times as often. */
const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal) };

// A busy computer may need longer than two seconds to end a call: 200 s of this clock.
defineConformance({ fixture: mockFixture, level: "gold", graceMs: 200_000, clock, describe, it, afterAll });
