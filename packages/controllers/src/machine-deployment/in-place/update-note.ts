import { annotationKeys, isRecord } from "@millwright/core";
import { parseJson } from "@millwright/kube";
import type { Node } from "../../model/node-objects.ts";

/** The in-place update that a node waits for or is in, as noted on the node. */
export interface UpdateNote {
  /** Name of the set that the update leads to: a node that was updated for another template is not up to date. */
  readonly set: string;
  /** Whether the node was schedulable before its drain: the cordon of a user is kept after the update. */
  readonly schedulable: boolean;
  /** The node is no longer selected: its drain is to be undone. */
  readonly revoked: boolean;
}

/** The note on a node; `undefined` without a valid one: MCM writes none. */
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
