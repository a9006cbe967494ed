import { annotationKeys, isRecord } from "@millwright/core";
import { parseJson } from "@millwright/kube";
import type { Node } from "../../model/node-objects.ts";

/** What a node remembers of the update in place that it waits for or goes through. */
export interface UpdateNote {
  /** Name of the set that the update leads to: a node that was updated for another template is not up to date. */
  readonly set: string;
  /** Whether the node took pods before its drain: a cordon of a user's stays when the update is over. */
  readonly schedulable: boolean;
  /** The node was selected, and is so no more: what its drain did is to be undone. */
  readonly revoked: boolean;
}

/** The note on a node; `undefined` without one that can be read: MCM writes none. */
export function readUpdateNote(node: Node): UpdateNote | undefined {
  const text = node.metadata.annotations?.[annotationKeys.inPlaceUpdate];
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    if (!isRecord(value) || typeof value["set"] !== "string") return undefined;
    return { set: value["set"], schedulable: value["schedulable"] !== false, revoked: value["revoked"] === true };
  } catch {
    return undefined;
  }
}

/** The text of a note. */
export const writeUpdateNote = ({ set, schedulable, revoked }: UpdateNote): string =>
  JSON.stringify({ set, schedulable, ...(revoked ? { revoked } : {}) });
