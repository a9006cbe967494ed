import type { DrainTerms, DrainView } from "../drain/drain-view.ts";
import type { Move } from "../drain/drain-record.ts";
import { aNode } from "./builders.ts";
import { testNow } from "./test-time.ts";

const MINUTE = 60_000;

/** Where volumes are and which claims need them: names by place. Default: none. */
export function volumePlaces(
  places: Partial<Readonly<Record<keyof DrainView["attached"], readonly string[]>>> = {},
): DrainView["attached"] {
  return {
    attachedHere: new Set(places.attachedHere),
    attachedElsewhere: new Set(places.attachedElsewhere),
    wantedClaims: new Set(places.wantedClaims),
    unplacedClaims: new Set(places.unplacedClaims),
  };
}

/** A cordoned node without pods. */
export const aDrainView = (change: Partial<DrainView> = {}): DrainView => ({
  node: aNode({ spec: { unschedulable: true } }),
  pods: [],
  knownPods: "complete",
  rules: [],
  budgets: [],
  volumes: new Map(),
  unknownVolumes: [],
  volumeIdsUntil: 0,
  attached: volumePlaces(),
  evictions: new Map(),
  record: { moves: [] },
  ...change,
});

/** A drain that began now, may evict for one hour and is forced after two; volumes have 2 min to detach and 90 s to attach. */
export const drainTerms = (change: Partial<DrainTerms> = {}): DrainTerms => ({
  mode: "normal",
  startedAt: testNow.getTime(),
  evictUntil: testNow.getTime() + 60 * MINUTE,
  deadline: testNow.getTime() + 120 * MINUTE,
  cordon: true,
  volumes: { detachMs: 2 * MINUTE, reattachMs: 90_000 },
  ...change,
});

/** Volumes `pv-<name>` of the pods of these names. */
export const volumesFor = (...names: readonly string[]): DrainView["volumes"] =>
  new Map(
    names.map((name) => [
      `uid-${name}`,
      [{ name: `pv-${name}`, claim: `default/data-${name}`, volumeId: `vol-pv-${name}` }],
    ]),
  );

/** The pod of this name was evicted now, with its volume. */
export const aMove = (name: string, change: Partial<Move> = {}): Move => ({
  uid: `uid-${name}`,
  pod: `default/${name}`,
  volumes: volumesFor(name).get(`uid-${name}`) ?? [],
  evictedAt: testNow.toISOString(),
  isReplaced: true,
  graceSeconds: 30,
  ...change,
});
