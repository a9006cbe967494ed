import { annotationKeys, type FieldProblem, joinPath } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";

type Annotated = Pick<ApiObject, "metadata">;

const { maxDeletionShare } = annotationKeys;

/** The share that a MachineDeployment, or a MachineSet without one, gives to its machines: more than 0, up to 1. `undefined` without a valid one: then the flag applies. */
export function ownShareOf(object: Annotated | undefined): number | undefined {
  const [, digits] = /^(\d{1,3})%?$/.exec(object?.metadata.annotations?.[maxDeletionShare] ?? "") ?? [];
  const percent = Number(digits);
  return percent >= 1 && percent <= 100 ? percent / 100 : undefined;
}

/** Why the share of an object is ignored. */
export function ownShareProblems(object: Annotated): readonly FieldProblem[] {
  const text = object.metadata.annotations?.[maxDeletionShare];
  if (text === undefined || ownShareOf(object) !== undefined) return [];
  const message = `must be a percentage from 1% to 100%, is "${text.slice(0, 40)}"`;
  return [{ path: joinPath("metadata.annotations", maxDeletionShare), message, kind: "invalid" }];
}

/** Whether a share of its own takes a pool out of the share of its namespace: what a person allows of the pool is not held for others, and holds none of them. */
export const isReleased = (own: number | undefined, share: number): boolean => own !== undefined && own > share;
