import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, beingDeleted } from "../testing/builders.ts";
import { aSnapshot, testNow } from "../testing/snapshots.ts";
import { ageMs, creationDeadline, creationTimeoutMs, drainDeadline } from "./timeouts.ts";

const key = "node.machine.sapcloud.io/effective-creation-timeout";
const minute = 60_000;

describe("timeouts", () => {
  test.each([
    ["the setting", {}, {}, 20],
    ["the spec", {}, { creationTimeout: "5m" }, 5],
    ["the annotation", { [key]: "7m" }, { creationTimeout: "5m" }, 7],
    ["the spec when the annotation is not a duration", { [key]: "soon" }, { creationTimeout: "5m" }, 5],
    ["the setting when nothing is a duration", { [key]: "" }, { creationTimeout: "x" }, 20],
  ])("of creation come from %s", (_, annotations, spec, minutes) => {
    const snapshot = aSnapshot({ machine: aMachine(annotated(annotations), { spec }) });
    expect(creationTimeoutMs(snapshot)).toBe(minutes * minute);
    expect(creationDeadline(snapshot)).toBe(Date.parse("2026-01-01T00:00:00Z") + minutes * minute);
  });

  it("of a drain run from the deletion timestamp, so a restart does not restart them", () => {
    const machine = aMachine(beingDeleted("2026-01-01T00:05:00Z"));
    expect(drainDeadline(aSnapshot({ machine }))).toBe(Date.parse("2026-01-01T02:05:00Z"));
    const own = aMachine(machine, { spec: { drainTimeout: "10m" } });
    expect(drainDeadline(aSnapshot({ machine: own }))).toBe(Date.parse("2026-01-01T00:15:00Z"));
  });

  it("count a machine without a time as old as time itself", () => {
    const machine = aMachine({ metadata: { creationTimestamp: null } });
    expect(ageMs(machine, testNow)).toBe(testNow.getTime());
    expect(ageMs(aMachine(), testNow)).toBe(10 * minute);
  });
});
