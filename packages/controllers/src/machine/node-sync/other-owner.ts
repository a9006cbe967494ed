import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { readIntent } from "../../model/creation-intent.ts";
import type { Node } from "../../model/node-objects.ts";
import { isDeleting } from "../../model/phase.ts";
import { type FoundNode, linkOf, type MatchNode } from "../../model/pick-node.ts";
import { isBeforeVm } from "../drain/draining.ts";

/** What is known of the claims to the node of a machine. */
export interface NodeClaims {
  /** What links the machine to the node. */
  readonly nodeMatch: FoundNode["match"];
  readonly match: MatchNode;
  /** All machines that may belong to the node. */
  readonly claimants: readonly Machine[];
  /** The machine of that name in the namespace. */
  readonly machineNamed: (name: string) => Machine | undefined;
  /** By how much the clock of the API server of the nodes is ahead of that of the machines, milliseconds. */
  readonly clockAheadMs: number;
}

/**
 * The other machine that the label of the node names, when the node counts as its node. One that is not in the namespace may be that of another namespace or installation: its node is never drained and deleted. It
 * is not taken over either, unless a VM was requested for this machine: then the node is left over from a deleted machine whose name or server the VM has. One of the namespace has only a node that the ids do not
 * prove to be this machine's.
 */
export function otherMachineOf(
  node: Node,
  machine: Machine,
  { nodeMatch, match, machineNamed }: Omit<NodeClaims, "claimants" | "clockAheadMs">,
): string | undefined {
  const name = node.metadata.labels?.[labelKeys.machineName] ?? "";
  if (name === "" || name === machine.metadata.name) return undefined;
  const other = machineNamed(name);
  const counts =
    other === undefined
      ? isDeleting(machine) || readIntent(machine) === undefined
      : isDeleting(machine) && nodeMatch !== "same" && linkOf(other, node, match) !== "different";
  return counts ? name : undefined;
}

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/**
 * Whether a node, which only names link to a terminating machine, is that of another machine: ids prove it, or a new VM has taken the name, as on clouds that use the addresses of deleted VMs again. Then the node is
 * younger than the machine of that VM. Once the drain is over, only the node of a VM that is being deleted may be deleted, and any other claim shows that it may not be that one.
 */
export function belongsToOther(
  node: Node,
  machine: Machine,
  { nodeMatch, match, claimants, clockAheadMs }: Omit<NodeClaims, "machineNamed">,
): boolean {
  if (nodeMatch === "same") return false;
  const nodeCreatedAt = timeOf(node.metadata.creationTimestamp) - clockAheadMs;
  return claimants.some((other) => {
    const { uid, creationTimestamp, deletionTimestamp } = other.metadata;
    const link = linkOf(other, node, match);
    if (uid === machine.metadata.uid || link === "different") return false;
    if (link === "same") return true;
    return deletionTimestamp == null && (!isBeforeVm(machine) || nodeCreatedAt > timeOf(creationTimestamp));
  });
}
