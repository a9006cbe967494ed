import { Writable } from "node:stream";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createDisplay, type Output } from "./display.ts";
import type { Fleet, FleetRow } from "./fleet.ts";

const row = (name: string, phase: string, cause = "", isFailing = false): FleetRow => ({
  name,
  phase,
  node: "",
  vm: "",
  ageSeconds: 0,
  cause,
  isFailing,
});

function createLog() {
  let text = "";
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const clock = createVirtualClock({ now: new Date("2026-01-01T09:00:00Z") });
  const display = createDisplay({
    output: output as Output,
    header: [],
    help: [],
    clock,
    onStop: () => undefined,
  });
  return { display, lines: () => text.trimEnd().split("\n") };
}

it("writes one line for each change when the output is not a terminal", () => {
  const { display, lines } = createLog();
  const fleet = (machines: readonly FleetRow[], deployments: readonly string[] = []): Fleet => ({
    machines,
    deployments,
  });
  display.update(fleet([row("a", "Pending")], ["example: 1 desired, 0 ready, 1 up to date"]));
  display.update(fleet([row("a", "Pending")], ["example: 1 desired, 0 ready, 1 up to date"]));
  display.update(fleet([row("a", "Running")], ["example: 1 desired, 1 ready, 1 up to date"]));
  display.update(fleet([]));
  display.finish();
  expect(lines()).toEqual([
    "09:00:00 machine a: new -> Pending",
    "09:00:00 deployment example: 1 desired, 0 ready, 1 up to date",
    "09:00:00 machine a: Pending -> Running",
    "09:00:00 deployment example: 1 desired, 1 ready, 1 up to date",
    "09:00:00 machine a: deleted",
  ]);
});

it("reports why a machine is in its phase, and each failure once", () => {
  const { display, lines } = createLog();
  const see = (...args: Parameters<typeof row>) => display.update({ machines: [row(...args)], deployments: [] });
  see("a", "CrashLoopBackOff", "no quota", true);
  see("a", "CrashLoopBackOff", "no quota", true);
  see("a", "CrashLoopBackOff", "no\npermissions", true);
  see("a", "Pending", "waits for its node");
  see("a", "Pending", "still waits for its node");
  see("a", "Running", "joined in 3s");
  expect(lines()).toEqual([
    "09:00:00 machine a: new -> CrashLoopBackOff: no quota",
    "09:00:00 machine a: CrashLoopBackOff: no permissions",
    "09:00:00 machine a: CrashLoopBackOff -> Pending: waits for its node",
    "09:00:00 machine a: Pending -> Running: joined in 3s",
  ]);
});
