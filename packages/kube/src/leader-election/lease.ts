import { isRecord } from "@millwright/base";
import type { KubeObject } from "../objects/kube-object.ts";

/** The content of a Lease. Its times only distinguish states; they are never compared with a clock. */
export interface LeaseRecord {
  /** "": none. */
  readonly holder: string;
  /** Undefined when missing or invalid. */
  readonly durationMs: number | undefined;
  readonly acquireTime: string;
  readonly renewTime: string;
  /** How often the holder changed. */
  readonly transitions: number;
}

/** Reads a Lease, tolerating invalid fields. */
export function readLease(lease: KubeObject): LeaseRecord {
  const spec = isRecord(lease["spec"]) ? lease["spec"] : {};
  const text = (field: string): string => {
    const value = spec[field];
    return typeof value === "string" ? value : "";
  };
  const seconds = spec["leaseDurationSeconds"];
  const transitions = spec["leaseTransitions"];
  return {
    holder: text("holderIdentity"),
    durationMs: typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined,
    acquireTime: text("acquireTime"),
    renewTime: text("renewTime"),
    transitions: typeof transitions === "number" && transitions >= 0 ? transitions : 0,
  };
}

/** The `spec` of a Lease. */
export function leaseSpec(record: LeaseRecord): Readonly<Record<string, unknown>> {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: Math.max(1, Math.round((record.durationMs ?? 1_000) / 1_000)),
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
}

/** Whether two readings show the same state, so that the holder has not renewed in between. */
export function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return (
    a.holder === b.holder &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.transitions === b.transitions &&
    a.durationMs === b.durationMs
  );
}

/**
 * A time as `MicroTime` fields of the API require it: exactly six fraction digits. With the three of `toISOString` a kube-apiserver
 * rejects the object.
 */
export function formatMicroTime(date: Date): string {
  return date.toISOString().replace(/Z$/, "000Z");
}
