import { ApiError, type Log, nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { aNode } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { areNodesUnread, isTargetUnread } from "./unread-target.ts";
import { waitForTarget } from "./wait-for-target.ts";

/** Caches of a target cluster whose API server does not respond for a minute. */
function unreachableTarget(isSeparate: boolean) {
  const lines: unknown[] = [];
  const log: Log = (level, message, fields) => void lines.push([level, message, fields]);
  const { api, clock, newContext } = createTestCluster({ log });
  const context = newContext();
  const { target } = context;
  const error = new ApiError({ status: 0, reason: "Unreachable", message: "no route" });
  const { nodes, pods } = target.caches;
  for (const verb of ["list", "watch"] as const) api.inject({ verb, type: nodeResource, error, times: 20 });
  api.seed(nodeResource, aNode());
  const stop = new AbortController();
  for (const cache of Object.values(target.caches)) void cache.run(stop.signal);
  const seen = { ...context, target: { ...target, isSeparate } };
  let starts = 0;
  let reads = 0;
  const caches = { nodes, pods };
  const options = { controller: "machine", caches, unreachableAfterMs: 30_000, onRead: () => void reads++ };
  const waits = waitForTarget(seen, options);
  void Promise.all(waits.map((each) => each.synced(stop.signal))).then(
    () => starts++,
    () => undefined,
  );
  const isCurrent = () => waits.every((each) => each.isCurrent?.() !== false);
  return { clock, seen, stop, lines, isCurrent, counts: () => ({ starts, reads }) };
}

it("lets a controller start when the API server of a target cluster of its own counts as unreachable, and reports the first list", async () => {
  const { clock, seen, stop, lines, isCurrent, counts } = unreachableTarget(true);
  await clock.advance(29_000);
  expect(counts()).toEqual({ starts: 0, reads: 0 });
  await clock.advance(2_000);
  expect([counts(), isCurrent()]).toEqual([{ starts: 1, reads: 0 }, true]);
  expect([areNodesUnread(seen), isTargetUnread(seen)]).toEqual([true, true]);
  const message = "What needs Nodes waits for the first list of some kinds";
  expect(lines).toContainEqual(["warn", message, { controller: "machine", kinds: ["nodes"] }]);
  await clock.advance(600_000);
  expect([counts(), isCurrent()]).toEqual([{ starts: 1, reads: 1 }, true]);
  expect([areNodesUnread(seen), isTargetUnread(seen)]).toEqual([false, false]);
  stop.abort(new Error("the test is over"));
});

it("waits for the first list where there is one cluster, however long it takes", async () => {
  const { clock, seen, stop, isCurrent, counts } = unreachableTarget(false);
  await clock.advance(60_000);
  expect([counts(), isCurrent()]).toEqual([{ starts: 0, reads: 0 }, false]);
  expect([areNodesUnread(seen), isTargetUnread(seen)]).toEqual([false, false]);
  await clock.advance(600_000);
  expect(counts()).toEqual({ starts: 1, reads: 0 });
  stop.abort(new Error("the test is over"));
});
