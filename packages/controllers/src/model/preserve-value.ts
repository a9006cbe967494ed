import { annotationKeys, type Machine, preserveValues } from "@millwright/core";
import type { Node } from "./node-objects.ts";

/** What someone asks for by the annotation `preserve`. */
export type PreserveValue = (typeof preserveValues)[keyof typeof preserveValues];

const allowed: readonly PreserveValue[] = Object.values(preserveValues);

const isPreserveValue = (text: string): text is PreserveValue => allowed.some((value) => value === text);

/** What machine and node ask for, in the words of their annotations. */
export interface PreserveAnnotations {
  /** `preserve` of the machine. */
  readonly machine: string | undefined;
  /** `preserve` of the node; an empty one is a wish too: to stop. */
  readonly node: string | undefined;
  /** The value of the node that was acted on last, as the machine remembers it; empty when there is none. */
  readonly lastApplied: string;
  /** Whether there is a node at all. Without one only the machine can be asked. */
  readonly hasNode: boolean;
}

export const preserveAnnotationsOf = ({ metadata }: Machine, node: Node | undefined): PreserveAnnotations => ({
  machine: metadata.annotations?.[annotationKeys.preserve],
  node: node?.metadata.annotations?.[annotationKeys.preserve],
  lastApplied: metadata.annotations?.[annotationKeys.lastAppliedNodePreserveValue] ?? "",
  hasNode: node !== undefined,
});

/** Whether the node's value counts and the machine's does not: it is there, or was there when the machine was looked at last. */
export const isNodeInControl = ({ node, lastApplied, hasNode }: PreserveAnnotations): boolean =>
  hasNode && (node !== undefined || lastApplied !== "");

/** What is asked for; empty for nothing, `undefined` for a value of the node that means nothing, about which nothing is done. */
export function preserveValueOf(requested: PreserveAnnotations): PreserveValue | "" | undefined {
  if (isNodeInControl(requested)) {
    const value = requested.node ?? "";
    return value === "" || isPreserveValue(value) ? value : undefined;
  }
  const value = requested.machine ?? "";
  return isPreserveValue(value) ? value : "";
}

/** Whether a Failed machine is to be kept, as far as the annotations go. */
export function isToBePreserved(requested: PreserveAnnotations): boolean {
  const value = preserveValueOf(requested);
  return value === preserveValues.now || value === preserveValues.whenFailed || value === preserveValues.autoPreserved;
}

/** What is wrong with the value that counts, in one sentence; `undefined` when it can be followed. */
export function preserveValueProblem(requested: PreserveAnnotations, machineName: string): string | undefined {
  const isOfNode = isNodeInControl(requested);
  const value = (isOfNode ? requested.node : requested.machine) ?? "";
  if (value === "" || isPreserveValue(value)) return undefined;
  const whose = isOfNode ? `the Node of machine ${machineName}` : `machine ${machineName}`;
  // The value is text from outside: its beginning will do to find it.
  return `Annotation ${annotationKeys.preserve} of ${whose} is ${JSON.stringify(value.slice(0, 63))}, expected one of ${allowed.join(", ")}; ${isOfNode ? "nothing is done until it is mended or removed" : "it is ignored"}`;
}
