import { annotationKeys } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import { type BoundApproval, parseApproval, readTime, shortUid } from "../model/approval.ts";

type Annotated = Pick<ApiObject, "metadata">;

/** Whether an object approves deletions, from its annotation. */
export type Approval =
  | { readonly state: "none" }
  /** Everything until a time. */
  | { readonly state: "approved"; readonly until: number }
  /** What was held, or what is left of it. */
  | { readonly state: "bound"; readonly bound: BoundApproval }
  | { readonly state: "void"; readonly value: string; readonly why: string };

/** What an object records of the approvals that were used for its generation. */
export function usedApprovals({ metadata }: Annotated): number {
  const record = /^generation=(\d+),count=(\d+)$/.exec(metadata.annotations?.[annotationKeys.usedApprovals] ?? "");
  return Number(record?.[1]) === metadata.generation ? Number(record?.[2]) : 0;
}

/** The record that so many deletions and creations were approved in the generation of an object. */
export const usedApprovalsPatch = ({ metadata }: Annotated, count: number): object => ({
  metadata: {
    annotations: { [annotationKeys.usedApprovals]: `generation=${metadata.generation ?? 0},count=${count}` },
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
  },
});

/** Why a bound approval approves nothing, or nothing any more. */
function endOf({ metadata }: Annotated, bound: BoundApproval, used: number, now: Date): string | undefined {
  if (bound.until !== undefined && (readTime(bound.until) ?? 0) <= now.getTime()) return "it has expired";
  if (bound.uid !== shortUid(metadata)) return "it is for another object";
  if (bound.generation !== undefined && bound.generation !== metadata.generation) return "the spec has changed since";
  return bound.work !== "requests" && bound.count <= used ? "it is used up" : undefined;
}

/**
 * Reads the annotation of an object.
 *
 * @param used what approvals were used for in its generation. Default: what the object records
 */
export function approvalOf(object: Annotated, now: Date, used: number = usedApprovals(object)): Approval {
  const value = object.metadata.annotations?.[annotationKeys.approveDeletions];
  if (value === undefined) return { state: "none" };
  const until = readTime(value);
  if (until !== undefined)
    return until > now.getTime() ? { state: "approved", until } : { state: "void", value, why: "it has expired" };
  const bound = parseApproval(value);
  if (bound === undefined)
    return { state: "void", value, why: "it is neither an RFC 3339 time nor a value that a hold shows" };
  const why = endOf(object, bound, used, now);
  return why === undefined ? { state: "bound", bound } : { state: "void", value, why };
}

/** Whether one of these objects approves everything, for a time. */
export const isApprovedBy = (objects: readonly (Annotated | undefined)[], now: Date): boolean =>
  objects.some((object) => object !== undefined && approvalOf(object, now).state === "approved");

/** Whether an object approves the deletion of a Machine that is not one of its own, such as one with a former UID of its owner in the owner reference. */
export function approvesRequest(object: Annotated, machine: Annotated, now: Date): boolean {
  const approval = approvalOf(object, now);
  if (approval.state !== "bound") return approval.state === "approved";
  const { work, before = "" } = approval.bound;
  return work === "requests" && Date.parse(machine.metadata.deletionTimestamp ?? "") <= Date.parse(before);
}

/** Whether a Machine approves its own deletion. */
export function approvesItself(machine: Annotated, now: Date): boolean {
  const approval = approvalOf(machine, now);
  return approval.state === "approved" || (approval.state === "bound" && approval.bound.work === "requests");
}
