import { isRecord } from "@millwright/base";
import { annotationKeys, type ObjectMeta } from "@millwright/core/machine-api";
import type { TrackedVolume } from "./volume-accounting.ts";

/** A pod that was evicted and whose volumes are moving to another node. */
export interface Move {
  /** UID of the pod. */
  readonly uid: string;
  /** Namespace and name of the pod. */
  readonly pod: string;
  readonly volumes: readonly TrackedVolume[];
  /** When the eviction was requested, RFC 3339. */
  readonly evictedAt: string;
  /** Whether a controller replaces the pod. */
  readonly isReplaced: boolean;
  /** The pod's grace period, seconds. */
  readonly graceSeconds: number;
  /** When all its volumes were detached from the node, RFC 3339; absent before. */
  readonly detachedAt?: string;
}

/** How much of the time since its start counts for the deadlines of a drain: not that of pauses. */
export interface DrainClock {
  /** Start of the drain, RFC 3339. */
  readonly startedAt: string;
  /** When this was stored, RFC 3339. */
  readonly countedUntil: string;
  /** Time of the drain until then, without pauses, milliseconds. */
  readonly countedMs: number;
}

/**
 * State of a drain that the cluster does not show and that must survive a restart: since when it waits for volumes, and the time that counts. Stored as JSON in an annotation of the machine; it
 * contains the moves in progress, which is one at a time.
 */
export interface DrainRecord {
  readonly moves: readonly Move[];
  /** Absent in the first minutes of a drain. */
  readonly clock?: DrainClock;
}

const isTime = (value: unknown): value is string => typeof value === "string" && !Number.isNaN(Date.parse(value));

const isVolume = (value: unknown): value is TrackedVolume =>
  isRecord(value) &&
  typeof value["name"] === "string" &&
  typeof value["claim"] === "string" &&
  (value["volumeId"] === undefined || typeof value["volumeId"] === "string");

const isMove = (value: unknown): value is Move =>
  isRecord(value) &&
  typeof value["uid"] === "string" &&
  typeof value["pod"] === "string" &&
  Array.isArray(value["volumes"]) &&
  value["volumes"].every(isVolume) &&
  isTime(value["evictedAt"]) &&
  typeof value["isReplaced"] === "boolean" &&
  Number.isFinite(value["graceSeconds"]) &&
  (value["detachedAt"] === undefined || isTime(value["detachedAt"]));

const isClock = (value: unknown): value is DrainClock =>
  isRecord(value) && isTime(value["startedAt"]) && isTime(value["countedUntil"]) && Number.isFinite(value["countedMs"]);

const nothing: DrainRecord = { moves: [] };

/** Reads the record of a machine. An unreadable record counts as empty: then the drain waits for no volume of earlier evictions, and all its time counts. */
export function readDrainRecord({ annotations }: ObjectMeta): DrainRecord {
  const text = annotations?.[annotationKeys.drainState];
  if (text === undefined) return nothing;
  try {
    const raw: unknown = JSON.parse(text);
    if (!isRecord(raw)) return nothing;
    const { moves, clock } = raw;
    return {
      moves: Array.isArray(moves) ? moves.filter(isMove) : [],
      ...(isClock(clock) ? { clock } : {}),
    };
  } catch {
    return nothing;
  }
}

/** The patch of a machine that stores the record, or removes an empty one. */
export const drainRecordPatch = (record: DrainRecord): object => {
  const isEmpty = record.moves.length === 0 && record.clock === undefined;
  return { metadata: { annotations: { [annotationKeys.drainState]: isEmpty ? null : JSON.stringify(record) } } };
};
