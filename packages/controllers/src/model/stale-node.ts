import type { Machine } from "@millwright/core";
import { labelKeys } from "@millwright/core";
import type { MatchedNode } from "./node-match.ts";

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/** The clocks of two API servers may differ: a node counts as older than the machine only from here on, milliseconds. */
const clockSkewMs = 60_000;

/**
 * Whether the node that has the name of a machine's VM is a leftover of another VM, so that this one must not join under it.
 * A VM may join before the driver replies, and has no provider id until the cloud controller manager has seen it: a node that ids or the machine's label prove to be
 * the machine's is its own, and so is one that is not older than the machine. A node of the machine's name is its own, too: on some clouds the VM bears that name.
 */
export function isStaleNode({ node, match }: MatchedNode, machine: Machine): boolean {
  const { name, labels, creationTimestamp } = node.metadata;
  if (name === machine.metadata.name) return false;
  if (match !== "unknown") return match === "different";
  const itsMachine = labels?.[labelKeys.machineName] ?? "";
  if (itsMachine !== "") return itsMachine !== machine.metadata.name;
  return timeOf(creationTimestamp) < timeOf(machine.metadata.creationTimestamp) - clockSkewMs;
}
