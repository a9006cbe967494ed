import { annotationKeys } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";

/** Whether an object approves deletions, from its annotation. */
export type Approval =
  | { readonly state: "none" }
  | { readonly state: "approved"; readonly until: number }
  | { readonly state: "expired" | "malformed"; readonly value: string };

/** RFC 3339 with a zone: `Date.parse` alone accepts much more. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Reads the annotation of an object. */
export function approvalOf({ metadata }: Pick<ApiObject, "metadata">, now: Date): Approval {
  const value = metadata.annotations?.[annotationKeys.approveDeletions];
  if (value === undefined) return { state: "none" };
  const until = rfc3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return { state: "malformed", value };
  return until > now.getTime() ? { state: "approved", until } : { state: "expired", value };
}

/** Whether one of these objects approves. */
export const isApprovedBy = (objects: readonly (Pick<ApiObject, "metadata"> | undefined)[], now: Date): boolean =>
  objects.some((object) => object !== undefined && approvalOf(object, now).state === "approved");
