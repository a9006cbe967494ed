import { Writable } from "node:stream";
import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createDisplay, type Output } from "./display.ts";
import type { Fleet, FleetRow } from "./fleet.ts";

const row = (name: string, phase: string): FleetRow => ({
  name,
  phase,
  node: "",
  vm: "",
  ageSeconds: 0,
  problem: undefined,
});

it("writes one line for each change when the output is no terminal", () => {
  let text = "";
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const clock = createVirtualClock({ now: new Date("2026-01-01T09:00:00Z") });
  const display = createDisplay(output as Output, clock);
  const fleet = (machines: readonly FleetRow[], deployments: readonly string[] = []): Fleet => ({
    machines,
    deployments,
  });
  display.update(fleet([row("a", "Pending")], ["example: 1 desired, 0 ready, 1 up to date"]));
  display.update(fleet([row("a", "Pending")], ["example: 1 desired, 0 ready, 1 up to date"]));
  display.update(fleet([row("a", "Running")], ["example: 1 desired, 1 ready, 1 up to date"]));
  display.update(fleet([]));
  display.finish();
  expect(text.trimEnd().split("\n")).toEqual([
    "09:00:00 machine a: new -> Pending",
    "09:00:00 deployment example: 1 desired, 0 ready, 1 up to date",
    "09:00:00 machine a: Pending -> Running",
    "09:00:00 deployment example: 1 desired, 1 ready, 1 up to date",
    "09:00:00 machine a: gone",
  ]);
});
