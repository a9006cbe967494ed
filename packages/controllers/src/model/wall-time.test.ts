import { seededRandom } from "@millwright/base";
import { MachineError } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { podResource, createEvictionQueue } from "@millwright/kube";
import { createFakeApi, tooManyRequestsError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createObservedDrains } from "../drain/observed-drains.ts";
import { createVolumeIds } from "../drain/volume-ids.ts";
import { createCapacityLookups } from "../machine-class/capacity-lookups.ts";
import { aPod } from "../testing/drain-objects.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A virtual clock whose wall time can be set wrong. */
function aJumpingClock() {
  const virtual = createVirtualClock();
  let jumpMs = 0;
  return {
    ...virtual,
    now: () => new Date(virtual.now().getTime() + jumpMs),
    jump: (byMs: number) => void (jumpMs += byMs),
  };
}

type JumpingClock = ReturnType<typeof aJumpingClock>;

/** Each returns how long its wait still takes, seen by a decision: from the wall time that it gets and the `now` of the reconcile. */
const waits: Readonly<Record<string, (clock: JumpingClock) => Promise<() => number | undefined>>> = {
  async "of a rejected eviction"(clock) {
    const api = createFakeApi({ clock });
    api.seed(podResource, { ...aPod("web") });
    const queue = createEvictionQueue({ api, clock, random: seededRandom(1) });
    api.inject({ verb: "create", subresource: "eviction", error: tooManyRequestsError({ retryAfterMs: MINUTE }) });
    queue.add({ kind: "evict", namespace: "default", name: "web", uid: "uid-web" }, () => {});
    await clock.advance(0);
    return () => {
      const view = queue.view("uid-web");
      return view?.state === "rejected" ? view.retryAt - clock.now().getTime() : undefined;
    };
  },
  async "for the ids of volumes"(clock) {
    const ids = createVolumeIds(clock);
    ids.lookUp("mock", { volumes: ["pv"], run: () => new Promise(() => {}), enqueue: () => {} });
    return () => (ids.waitUntil("mock", "pv") ?? 0) - clock.now().getTime();
  },
  async "after a lookup of ids that failed"(clock) {
    const ids = createVolumeIds(clock);
    const error = new MachineError("Internal", "no");
    ids.lookUp("mock", { volumes: ["pv"], run: async () => ({ ok: false, error }), enqueue: () => {} });
    await clock.advance(0);
    // It is outdated, and repeated, when there is no result to wait for.
    return () => ids.waitUntil("mock", "pv");
  },
  async "of a drain that this process has just begun to observe"(clock) {
    const observed = createObservedDrains(clock);
    observed.note("a", true);
    return () => (observed.since("a") ?? 0) - clock.now().getTime();
  },
  async "after a lookup of capacity that failed"(clock) {
    const lookups = createCapacityLookups(clock);
    const error = new MachineError("Unavailable", "no");
    lookups.start("uid", { inputs: "1", lookUp: async () => ({ ok: false, error }), enqueue: () => {} });
    await clock.advance(0);
    return () => {
      const answer = lookups.answerTo("uid", "1");
      return answer.state === "failed" ? answer.endedAt - clock.now().getTime() : undefined;
    };
  },
};

describe.each(Object.entries(waits))("the wait %s", (_, begin) => {
  it.each([HOUR, -HOUR])("is as long as before when the wall clock jumps by %i ms", async (jumpMs) => {
    const clock = aJumpingClock();
    const leftMs = await begin(clock);
    const before = leftMs();
    expect(before).toBeDefined();
    clock.jump(jumpMs);
    expect(leftMs()).toBe(before);
  });
});
