import { machineRow } from "@millwright/dashboard/rows";
import { expect, it } from "vitest";
import { createThroughput } from "./throughput.ts";

const row = (phase: string) =>
  machineRow({ metadata: { name: "a" }, spec: {}, status: { currentStatus: { phase } } }, false);

it("counts machines that came into service, and those that are gone, for a minute", () => {
  const throughput = createThroughput();
  throughput.record(row("Pending"), row("Running"), 1_000);
  throughput.record(row("Running"), undefined, 2_000);
  expect(throughput.counts(3_000)).toEqual({ running: 1, deleted: 1 });
  expect(throughput.counts(61_500)).toEqual({ running: 0, deleted: 1 });
  expect(throughput.counts(62_500)).toEqual({ running: 0, deleted: 0 });
});

it("counts neither machines that were just read nor those that are in service again", () => {
  const throughput = createThroughput();
  throughput.record(undefined, row("Running"), 1_000);
  throughput.record(row("Unknown"), row("Running"), 1_000);
  throughput.record(row("InPlaceUpdating"), row("Running"), 1_000);
  throughput.record(row("Running"), row("Running"), 1_000);
  throughput.record(undefined, undefined, 1_000);
  expect(throughput.counts(1_000)).toEqual({ running: 0, deleted: 0 });
});
