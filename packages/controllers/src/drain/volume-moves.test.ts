import { describe, expect, it } from "vitest";
import { aMove } from "../testing/drain-views.ts";
import { later, testNow } from "../testing/snapshots.ts";
import type { Move } from "./drain-record.ts";
import { progressOf, type VolumeView } from "./volume-moves.ts";

const limits = { detachMs: 120_000, reattachMs: 90_000 };
const view = (change: Partial<VolumeView> = {}): VolumeView => ({
  podsHere: new Set(),
  attachedHere: new Set(),
  attachedElsewhere: new Set(),
  wantedClaims: new Set(),
  unplacedClaims: new Set(),
  sharedHere: new Set(),
  ...change,
});
const detached = { detachedAt: testNow.toISOString() };
const wanted = { wantedClaims: new Set(["default/data-db"]) };
const unplaced = { unplacedClaims: new Set(["default/data-db"]) };
const stateOf = (change: Partial<Move>, volumes: Partial<VolumeView>, afterMs: number) => {
  const progress = progressOf(aMove("db", change), view(volumes), limits, later(afterMs));
  const isOverdue = "isOverdue" in progress && progress.isOverdue;
  return `${progress.state}${isOverdue ? " overdue" : ""}`;
};

describe("a pod with volumes on its way", () => {
  it.each<[string, Partial<Move>, Partial<VolumeView>, number, string]>([
    ["is leaving while it is on the node", {}, { podsHere: new Set(["uid-db"]) }, 0, "leaving"],
    ["may take its grace period and the time to detach", {}, { podsHere: new Set(["uid-db"]) }, 150_000, "leaving"],
    ["is overdue after that", {}, { podsHere: new Set(["uid-db"]) }, 150_001, "leaving overdue"],
    ["waits for its volume to leave", {}, { attachedHere: new Set(["pv-db"]) }, 150_000, "detaching"],
    ["does not wait for ever", {}, { attachedHere: new Set(["pv-db"]) }, 150_001, "detaching overdue"],
    [
      "waits for no volume that another pod on the node uses",
      { isReplaced: false },
      { attachedHere: new Set(["pv-db"]), sharedHere: new Set(["pv-db"]) },
      0,
      "done",
    ],
    ["waits for its volume to be attached where a pod uses it", detached, wanted, 89_999, "reattaching"],
    ["does not wait longer than the limit for that", detached, wanted, 90_000, "done"],
    ["is done when the volume is attached", detached, { ...wanted, attachedElsewhere: new Set(["pv-db"]) }, 0, "done"],
    ["gives the scheduler fifteen seconds to schedule the replacement", detached, unplaced, 14_999, "reattaching"],
    ["does not wait for an unschedulable replacement", detached, unplaced, 15_000, "done"],
    [
      "waits as long as one of the pods that use the volume can be scheduled",
      detached,
      { ...unplaced, ...wanted },
      89_999,
      "reattaching",
    ],
    ["gives a controller five seconds to create the replacement", detached, {}, 4_999, "reattaching"],
    ["does not wait when no pod uses the volume", detached, {}, 5_000, "done"],
    ["does not wait for a pod that is not replaced", { ...detached, isReplaced: false }, {}, 0, "done"],
    ["counts from now when the volume is first seen to be detached", {}, wanted, 1_000_000, "reattaching"],
  ])("%s", (_, move, volumes, afterMs, expected) => {
    expect(stateOf(move, volumes, afterMs)).toBe(expected);
  });

  it("names the volumes that are missing", () => {
    expect(progressOf(aMove("db"), view({ attachedHere: new Set(["pv-db", "pv-x"]) }), limits, testNow)).toMatchObject({
      volumes: [{ name: "pv-db" }],
      until: testNow.getTime() + 150_000,
    });
  });

  it("waits for all volumes of a pod, in whatever order they arrive", () => {
    const volumes = ["a", "b"].map((name) => ({ name: `pv-${name}`, claim: `default/data-${name}` }));
    const move = aMove("db", { ...detached, volumes });
    const wantedClaims = new Set(volumes.map(({ claim }) => claim));
    const missing = (...arrived: readonly string[]) => {
      const progress = progressOf(move, view({ wantedClaims, attachedElsewhere: new Set(arrived) }), limits, testNow);
      return progress.state === "reattaching" ? progress.volumes.map(({ name }) => name) : progress.state;
    };
    expect(missing()).toEqual(["pv-a", "pv-b"]);
    expect(missing("pv-b")).toEqual(["pv-a"]);
    expect(missing("pv-a")).toEqual(["pv-b"]);
    expect(missing("pv-b", "pv-a")).toBe("done");
  });

  it("waits for its own volume and not for the one that it shares with another pod on the node", () => {
    const volumes = ["own", "shared"].map((name) => ({ name: `pv-${name}`, claim: `default/data-${name}` }));
    const move = aMove("db", { ...detached, volumes });
    const shared = { sharedHere: new Set(["pv-shared"]) };
    const here = view({ ...shared, attachedHere: new Set(["pv-own", "pv-shared"]) });
    expect(progressOf(move, here, limits, testNow)).toMatchObject({
      state: "detaching",
      volumes: [{ name: "pv-own" }],
    });
    const away = view({ ...shared, attachedHere: new Set(["pv-shared"]), attachedElsewhere: new Set(["pv-own"]) });
    expect(progressOf(move, away, limits, testNow)).toEqual({ state: "done" });
  });

  it("skips the wait for arrival with a limit of zero", () => {
    for (const volumes of [wanted, unplaced, {}])
      expect(progressOf(aMove("db"), view(volumes), { ...limits, reattachMs: 0 }, testNow)).toEqual({ state: "done" });
  });
});
