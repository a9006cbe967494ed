import { labelKeys, type Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { findNode, machinesMatching } from "../cluster/node-candidates.ts";
import type { Node } from "../model/node-objects.ts";
import type { OperationView } from "../model/operation.ts";
import { isDeleting } from "../model/phase.ts";
import type { FoundNode, MatchedNode, MatchNode } from "../model/pick-node.ts";
import { competingMachines } from "./node-sync/competing-machines.ts";
import { belongsToOther, otherMachineOf } from "./node-sync/other-owner.ts";
import type { NodeReads } from "./state/node-reads.ts";
import type { NodeLink } from "./state/snapshot.ts";

/** The node of a machine, and whether it is the machine's to change. */
export interface ObservedNode {
  readonly node: Node | undefined;
  readonly link: NodeLink;
  /** Whether another machine has precedence for the node: it is neither drained nor deleted. */
  readonly isDisputed: boolean;
  /** Further nodes of the VM, that are the machine's to change, too. */
  readonly otherNodes: readonly Node[];
}

/** Where the node is looked for. */
interface NodeSources {
  readonly context: ControllerContext;
  readonly match: MatchNode;
  readonly nodeReads: Pick<NodeReads, "isRecent">;
  readonly operation: OperationView | undefined;
  /** Whether the VM is that of another machine, and with it the node. */
  readonly isVmOfOther: boolean;
}

/** By how much the clock of the API server of the nodes is ahead of that of the machines, milliseconds. */
export const clockAheadOf = ({ target, clock }: Pick<ControllerContext, "target" | "clock">): number =>
  (target?.clock ?? clock).now().getTime() - clock.now().getTime();

/** The node with the name that the driver's last result contains, and whether it belongs to that VM. */
function sameNameNodeOf(
  machine: Machine,
  { context, match, operation }: Pick<NodeSources, "context" | "match" | "operation">,
): MatchedNode | undefined {
  if (operation?.state !== "done") return undefined;
  const { providerId = "", nodeName = "" } = operation.result;
  const node = context.target?.caches.nodes.store.get(nodeName);
  const { metadata, spec } = machine;
  const withVm = {
    ...machine,
    metadata: { ...metadata, labels: { ...metadata.labels, [labelKeys.node]: nodeName } },
    spec: { ...spec, providerID: providerId },
  };
  if (node === undefined) return undefined;
  return { node, match: match(withVm, node), clockAheadMs: clockAheadOf(context) };
}

/** The first of the Nodes of a terminating machine, or the one that it names, that was not read just now. */
function unreadNodeOf(
  { metadata }: Machine,
  { node, otherNodes }: Pick<ObservedNode, "node" | "otherNodes">,
  reads: Pick<NodeReads, "isRecent">,
): string | undefined {
  const first = node?.metadata.name ?? metadata.labels?.[labelKeys.node] ?? "";
  const names = [first, ...otherNodes.map((other) => other.metadata.name)];
  return names.find((name) => name !== "" && !reads.isRecent(metadata.uid ?? "", name));
}

const noNode: FoundNode = { node: undefined, match: "unknown", foreignNode: undefined, otherNodes: [] };

/** What is found by names and ids, and which other machines claim it. */
type Claimed = Pick<ObservedNode, "node" | "isDisputed" | "otherNodes"> &
  Pick<NodeLink, "match" | "competingMachines" | "foreignNode">;

const withoutNode = {
  node: undefined,
  match: "unknown",
  competingMachines: [],
  isDisputed: false,
  otherNodes: [],
} as const;

function claimNode(machine: Machine, { context, match, isVmOfOther }: NodeSources): Claimed {
  const { caches, namespace, target } = context;
  const found = target === undefined ? noNode : findNode(machine, target.caches, match);
  if (found.node === undefined || isVmOfOther) return { ...withoutNode, foreignNode: found.foreignNode };
  const claimsTo = (node: Node) => ({
    nodeMatch: found.match,
    match,
    claimants: machinesMatching(node, caches),
    machineNamed: (name: string) => caches.machines.store.getByRef({ namespace, name }),
    clockAheadMs: clockAheadOf(context),
  });
  const claims = claimsTo(found.node);
  const other = otherMachineOf(found.node, machine, claims);
  const competing = competingMachines(found.node, machine, claims.claimants, match);
  const isDisputed = other !== undefined || (found.match !== "same" && competing.length > 0);
  // A deletion affects only the machine's own node.
  if (isDeleting(machine) && (isDisputed || belongsToOther(found.node, machine, claims)))
    return { ...withoutNode, foreignNode: found.node };
  const rivals = other === undefined || competing.includes(other) ? competing : [...competing, other].toSorted();
  const otherNodes = found.otherNodes.filter((node) => {
    const { claimants } = claimsTo(node);
    return competingMachines(node, machine, claimants, match).length === 0;
  });
  return { ...found, otherNodes, competingMachines: rivals, isDisputed };
}

/** Finds the node of a machine in the caches. */
export function observeNode(machine: Machine, sources: NodeSources): ObservedNode {
  const { node, isDisputed, otherNodes, ...claimed } = claimNode(machine, sources);
  const { nodeReads } = sources;
  return {
    node,
    isDisputed,
    otherNodes,
    link: {
      ...claimed,
      clockAheadMs: clockAheadOf(sources.context),
      unreadNode: isDeleting(machine) ? unreadNodeOf(machine, { node, otherNodes }, nodeReads) : undefined,
      sameNameNode: sameNameNodeOf(machine, sources),
    },
  };
}
