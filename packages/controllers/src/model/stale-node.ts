import type { Machine } from "@millwright/core/machine-api";
import { labelKeys } from "@millwright/core/machine-api";
import type { MatchedNode } from "./pick-node.ts";

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/** Tolerated error of the measured clock skew between two API servers, milliseconds. */
const clockErrorMs = 60_000;

/**
 * Whether the node with the name of a machine's VM belongs to another VM, so that the new VM must not join under it.
 * A VM may join before the driver returns, and has no provider id until the cloud controller manager has set it: a node is the machine's when ids or labels prove
 * it, or when it is not older than the machine. So is a node with the machine's name: on some clouds the VM has that name.
 */
export function isStaleNode({ node, match, clockAheadMs = 0 }: MatchedNode, machine: Machine): boolean {
  const { name, labels, creationTimestamp } = node.metadata;
  if (name === machine.metadata.name) return false;
  if (match !== "unknown") return match === "different";
  const itsMachine = labels?.[labelKeys.machineName] ?? "";
  if (itsMachine !== "") return itsMachine !== machine.metadata.name;
  return timeOf(creationTimestamp) - clockAheadMs < timeOf(machine.metadata.creationTimestamp) - clockErrorMs;
}
