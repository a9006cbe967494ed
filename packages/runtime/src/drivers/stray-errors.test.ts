import { Secret } from "@millwright/base";
import { createVirtualClock } from "@millwright/core/testing";
import type { Log } from "@millwright/kube";
import { onTestFinished, expect, test, vi } from "vitest";
import { runInDriverScope, strayErrorCounts, superviseProcess } from "./stray-errors.ts";

/** A supervised process, and a way to report an error to it as Node does. */
function supervised() {
  const clock = createVirtualClock();
  const log = vi.fn<Log>();
  const onOwnError = vi.fn<(error: unknown) => void>();
  onTestFinished(superviseProcess({ log, onOwnError, clock }));
  const listener = process.listeners("unhandledRejection").at(-1);
  const promise = Promise.resolve();
  const report = (error: unknown): void => listener?.(error, promise);
  const confidential = { token: Secret.of("s3cr3t-t0k3n") };
  const failIn = (driver: string, error: unknown): void =>
    runInDriverScope({ driver, confidential }, () => report(error));
  return { clock, log, onOwnError, report, failIn };
}

test("errors of a driver outside of its calls are logged at a limited rate, and all are counted", async () => {
  const { clock, log, onOwnError, failIn } = supervised();
  for (let second = 0; second < 61; second++) {
    failIn("noisy", new Error("boom with s3cr3t-t0k3n"));
    await clock.advance(1_000);
  }
  failIn("quiet", new Error("once"));
  const fields = log.mock.calls.map(([, message, values]) => {
    expect(message).toBe("A driver failed outside of its calls");
    return values;
  });
  expect(fields.map((values) => values?.["driver"])).toEqual([...Array.from({ length: 11 }, () => "noisy"), "quiet"]);
  expect(fields.map((values) => values?.["leftOut"])).toEqual([...Array.from({ length: 10 }), 50, undefined]);
  expect(JSON.stringify(fields)).not.toContain("s3cr3t-t0k3n");
  expect([strayErrorCounts().get("noisy"), strayErrorCounts().get("quiet")]).toEqual([61, 1]);
  expect(onOwnError).not.toHaveBeenCalled();
});

test("an error of no driver is not held back", () => {
  const { log, onOwnError, report } = supervised();
  for (let time = 0; time < 20; time++) report(new Error("a bug"));
  expect(onOwnError).toHaveBeenCalledTimes(20);
  expect(log).not.toHaveBeenCalled();
});
