import type { Machine } from "@millwright/core/machine-api";
import { linkOf, type MatchNode } from "../../model/pick-node.ts";
import type { Node } from "../../model/node-objects.ts";

/** Orders claims to a node: the machine of its VM first, then the older machine, then by name. */
function compareClaims(node: Node, a: Machine, b: Machine, match: MatchNode): number {
  const isVm = (machine: Machine): number => (match(machine, node) === "same" ? 0 : 1);
  const rank = ({ metadata }: Machine): string => `${metadata.creationTimestamp ?? ""}/${metadata.name}`;
  return isVm(a) - isVm(b) || (rank(a) < rank(b) ? -1 : 1);
}

/**
 * Names of the machines that take precedence over this one for a node, sorted. Two machines that both set their name on one node would
 * enqueue each other forever; only the first one writes.
 */
export const competingMachines = (
  node: Node,
  machine: Machine,
  claimants: readonly Machine[],
  match: MatchNode,
): readonly string[] =>
  [
    ...new Set(
      claimants
        .filter(({ metadata }) => metadata.uid !== machine.metadata.uid && metadata.deletionTimestamp == null)
        .filter((other) => linkOf(other, node, match) !== "different" && compareClaims(node, other, machine, match) < 0)
        .map(({ metadata }) => metadata.name),
    ),
  ].toSorted();
