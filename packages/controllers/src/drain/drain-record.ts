import { annotationKeys, type ObjectMeta } from "@millwright/core";
import type { TrackedVolume } from "./volume-accounting.ts";

/** A pod that was told to go and whose volumes are on their way to another node. */
export interface Move {
  /** UID of the pod. */
  readonly uid: string;
  /** Namespace and name of the pod. */
  readonly pod: string;
  readonly volumes: readonly TrackedVolume[];
  /** When the pod was told to go, RFC 3339. */
  readonly evictedAt: string;
  /** Whether a controller makes another pod in its place. */
  readonly isReplaced: boolean;
  /** How long the pod may take to end, seconds. */
  readonly graceSeconds: number;
  /** When all its volumes were seen to have left the node, RFC 3339; absent before. */
  readonly detachedAt?: string;
}

/**
 * What a drain cannot see in the cluster and must not forget over a restart: since when it waits for volumes. Kept as JSON in an annotation of the machine; it holds the
 * pods that are under way, which is one at a time.
 */
export interface DrainRecord {
  readonly moves: readonly Move[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const isTime = (value: unknown): value is string => typeof value === "string" && !Number.isNaN(Date.parse(value));

const isVolume = (value: unknown): value is TrackedVolume =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  typeof value["claim"] === "string" &&
  (value["volumeId"] === undefined || typeof value["volumeId"] === "string");

const isMove = (value: unknown): value is Move =>
  isObject(value) &&
  typeof value["uid"] === "string" &&
  typeof value["pod"] === "string" &&
  Array.isArray(value["volumes"]) &&
  value["volumes"].every(isVolume) &&
  isTime(value["evictedAt"]) &&
  typeof value["isReplaced"] === "boolean" &&
  Number.isFinite(value["graceSeconds"]) &&
  (value["detachedAt"] === undefined || isTime(value["detachedAt"]));

const nothing: DrainRecord = { moves: [] };

/** Reads the record of a machine. What cannot be read counts as nothing: the drain then waits for no volume that it did not just see, and goes on. */
export function readDrainRecord({ annotations }: ObjectMeta): DrainRecord {
  const text = annotations?.[annotationKeys.drainState];
  if (text === undefined) return nothing;
  try {
    const raw: unknown = JSON.parse(text);
    return Array.isArray(raw) ? { moves: raw.filter(isMove) } : nothing;
  } catch {
    return nothing;
  }
}

/** The patch of a machine that stores the record, or takes an empty one away. */
export const drainRecordPatch = ({ moves }: DrainRecord): object => ({
  metadata: { annotations: { [annotationKeys.drainState]: moves.length === 0 ? null : JSON.stringify(moves) } },
});
