import { describe, expect, it } from "vitest";
import type { Pod } from "../model/node-objects.ts";
import { aBudget, aPod, aPodWithVolume } from "../testing/drain-objects.ts";
import { aDrainView, aMove, drainTerms, volumePlaces, volumesFor } from "../testing/drain-views.ts";
import { later, testNow } from "../testing/snapshots.ts";
import { evicted, inGrace, linesOf, rejected, requeueAfter } from "../testing/drain-lines.ts";
import { decideDrain } from "./decide-drain.ts";
import type { EvictionView } from "@millwright/kube";

describe("pods with volumes", () => {
  const priority = (name: string, value: number): Pod =>
    aPodWithVolume(name, { spec: { volumes: [], priority: value } });
  const two = { pods: [priority("low", 1), priority("high", 9)], volumes: volumesFor("low", "high") };

  it("are evicted one after another by priority, and recorded before", () => {
    expect(linesOf(two)).toEqual(["RecordDrain default/high", "EvictPod high", "leaving high, turn low"]);
  });

  it("leave by name where none is more important", () => {
    const pods = [aPodWithVolume("b"), aPodWithVolume("a")];
    expect(linesOf({ pods, volumes: volumesFor("a", "b") })).toEqual([
      "RecordDrain default/a",
      "EvictPod a",
      "leaving a, turn b",
    ]);
  });

  it("do not delay pods without", () => {
    expect(linesOf({ ...two, pods: [...two.pods, aPod("web")] })).toEqual([
      "RecordDrain default/high",
      "EvictPod web",
      "EvictPod high",
      "leaving web, leaving high, turn low",
    ]);
  });

  it("do not hold each other up by a budget", () => {
    const budgets = [
      aBudget({ spec: { selector: { matchLabels: { app: "db" } } }, status: { disruptionsAllowed: 0 } }),
    ];
    const held = { ...two.pods[1], metadata: { ...two.pods[1]?.metadata, name: "high", labels: { app: "db" } } };
    expect(linesOf({ ...two, pods: [priority("low", 1), held], budgets })).toEqual([
      "RecordDrain default/low",
      "EvictPod low",
      "budget high, leaving low",
    ]);
  });

  const record = { moves: [aMove("high")] };
  const away = { moves: [aMove("high", { detachedAt: testNow.toISOString() })] };

  it("wait while the one before is leaving", () => {
    const going = aPodWithVolume("high", inGrace);
    expect(linesOf({ ...two, pods: [priority("low", 1), going], record })).toEqual(["turn low, leaving high"]);
  });

  it("wait while its volume is still attached, but not for ever", () => {
    const view = { pods: [priority("low", 1)], volumes: volumesFor("low"), record };
    const attached = volumePlaces({ attachedHere: ["pv-high"] });
    expect(linesOf({ ...view, attached })).toEqual(["detaching high, turn low"]);
    expect(requeueAfter({ ...view, attached })).toBe(150_001);
    expect(linesOf({ ...view, attached }, {}, later(150_001))).toEqual([
      "RecordDrain default/high,default/low",
      "EvictPod low",
      "detaching high, leaving low",
    ]);
  });

  it("wait until it is attached elsewhere, from a time that is stored", () => {
    const view = { pods: [priority("low", 1)], volumes: volumesFor("low") };
    const attached = volumePlaces({ wantedClaims: ["default/data-high"] });
    expect(linesOf({ ...view, attached, record })).toEqual([
      "RecordDrain default/high away",
      "reattaching high, turn low",
    ]);
    expect(linesOf({ ...view, attached, record: away }, {}, later(89_000))).toEqual(["reattaching high, turn low"]);
    expect(linesOf({ ...view, attached, record: away }, {}, later(90_000))).toEqual([
      "RecordDrain default/low",
      "EvictPod low",
      "leaving low",
    ]);
    const there = { ...attached, attachedElsewhere: new Set(["pv-high"]) };
    expect(linesOf({ ...view, attached: there, record: away })).toEqual([
      "RecordDrain default/low",
      "EvictPod low",
      "leaving low",
    ]);
  });

  it("are followed to the end also when no pod is left", () => {
    const attached = volumePlaces({ attachedHere: ["pv-high"] });
    expect(linesOf({ record, attached })).toEqual(["detaching high"]);
    expect(linesOf({ record, attached }, {}, later(150_001))).toEqual(["RecordDrain ", "drained"]);
  });

  it("are named in the result when they are still attached", () => {
    const attached = volumePlaces({ attachedHere: ["pv-low", "pv-high"] });
    const moves = [aMove("low"), aMove("high")];
    const end = (places: typeof attached) =>
      decideDrain(aDrainView({ record: { moves }, attached: places }), drainTerms(), later(150_001));
    expect(end(attached)).toMatchObject({ state: "drained", isForced: false, attached: ["pv-high", "pv-low"] });
    expect(end(volumePlaces())).not.toHaveProperty("attached");
  });

  it("count a volume that two of them share with the last one only", () => {
    const shared = new Map([...volumesFor("a"), ["uid-b", volumesFor("a").get("uid-a") ?? []]]);
    const attached = volumePlaces({ attachedHere: ["pv-a"] });
    const moves = [aMove("a", { detachedAt: testNow.toISOString() })];
    const view = { pods: [aPodWithVolume("b")], volumes: shared, attached, record: { moves } };
    expect(linesOf(view, {}, later(5_000))).toEqual(["RecordDrain default/b", "EvictPod b", "leaving b"]);
    const completed = aPodWithVolume("b", { status: { phase: "Succeeded" } });
    expect(linesOf({ ...view, pods: [completed] }, {}, later(5_000))).toEqual(["detaching a"]);
  });

  it("that are evicted again keep the message of their last rejection, so that the description does not flap", () => {
    const queued = (isBudget: boolean) =>
      new Map<string, EvictionView>([["uid-a", { state: "queued", rejection: { message: "no", isBudget } }]]);
    expect(linesOf({ pods: [aPod("a")], evictions: queued(false) })).toEqual(["rejected a"]);
    expect(linesOf({ pods: [aPod("a")], evictions: queued(true) })).toEqual(["budget a"]);
  });

  it("are evicted again when the eviction was lost: with the process, or by a rejection", () => {
    expect(linesOf({ ...two, record: away })).toEqual([
      "RecordDrain default/high",
      "EvictPod high",
      "leaving high, turn low",
    ]);
    expect(linesOf({ ...two, record, evictions: rejected("high") })).toEqual([
      "RecordDrain default/low",
      "EvictPod low",
      "rejected high, leaving low",
    ]);
    expect(linesOf({ ...two, record, evictions: evicted("high") })).toEqual(["leaving high, turn low"]);
  });
});

describe("volumes that the driver may know better", () => {
  const view = { pods: [aPodWithVolume("db"), aPod("a")], volumes: volumesFor("db") };

  it("are looked up at once, in one call, while pods without volumes are evicted", () => {
    expect(linesOf({ ...view, unknownVolumes: ["pv-db"] })).toEqual([
      "AskVolumeIds pv-db",
      "EvictPod a",
      "leaving a, lookup db",
    ]);
  });

  it("are waited for until the answer is due, and not longer", () => {
    const waiting = { ...view, pods: [aPodWithVolume("db")], volumeIdsUntil: later(10_000).getTime() };
    expect(linesOf(waiting)).toEqual(["lookup db"]);
    expect(requeueAfter(waiting)).toBe(10_000);
    expect(linesOf(waiting, {}, later(10_000))).toEqual(["RecordDrain default/db", "EvictPod db", "leaving db"]);
  });

  it("are not looked up when no pod with volumes is to be evicted", () => {
    expect(linesOf({ ...view, pods: [aPod("a")], unknownVolumes: ["pv-db"] })).toEqual(["EvictPod a", "leaving a"]);
  });
});
