import { describe, expect, it } from "vitest";
import { checkClock } from "./check-clock.ts";

const date = "Sun, 22 Nov 2026 12:00:00 GMT";
const server = Date.parse(date);
/** A reading whose request took no time. */
const at = (localMs: number) => checkClock({ sentMs: localMs, receivedMs: localMs, date });

describe("the clock check", () => {
  it.each([
    [0, "ok"],
    [5_900, "ok"],
    [-4_900, "ok"],
    [6_100, "warning"],
    [-5_100, "warning"],
    [60_900, "warning"],
    [61_100, "failed"],
    [-60_100, "failed"],
  ])("a local clock that is %i ms ahead: %s", (aheadMs, status) => {
    expect(at(server + aheadMs)).toMatchObject({ name: "Clock", status });
  });

  it("names the direction and what to do", () => {
    expect(at(server + 120_000)).toMatchObject({
      message: expect.stringMatching(/^The local clock is 119 s ahead of/),
      remedy: expect.stringContaining("Synchronize"),
    });
    expect(at(server - 120_000).message).toMatch(/is 120 s behind that of/);
  });

  it("blames no clock for a slow answer", () => {
    expect(checkClock({ sentMs: server - 20_000, receivedMs: server, date }).status).toBe("ok");
    expect(checkClock({ sentMs: server, receivedMs: server + 20_000, date }).status).toBe("ok");
    expect(checkClock({ sentMs: server + 20_000, receivedMs: server + 40_000, date }).status).toBe("warning");
  });

  it.each([undefined, "", "yesterday"])("is skipped when the server sends %j", (sent) => {
    expect(checkClock({ sentMs: 0, receivedMs: 0, date: sent })).toMatchObject({ status: "skipped" });
  });
});
