import { labelKeys, type Machine } from "@millwright/core";
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
const clockAheadOf = ({ target, clock }: Pick<ControllerContext, "target" | "clock">): number =>
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

/** The Node of a terminating machine, or the one that it names, when it was not read just now. */
function unreadNodeOf(
  { metadata }: Machine,
  node: Node | undefined,
  reads: Pick<NodeReads, "isRecent">,
): string | undefined {
  const name = node?.metadata.name ?? metadata.labels?.[labelKeys.node] ?? "";
  return name === "" || reads.isRecent(metadata.uid ?? "", name) ? undefined : name;
}

const noNode: FoundNode = { node: undefined, match: "unknown", foreignNode: undefined };

/** What is found by names and ids, and which other machines claim it. */
type Claimed = Pick<ObservedNode, "node" | "isDisputed"> &
  Pick<NodeLink, "match" | "competingMachines" | "foreignNode">;

const withoutNode = { node: undefined, match: "unknown", competingMachines: [], isDisputed: false } as const;

function claimNode(machine: Machine, { context, match, isVmOfOther }: NodeSources): Claimed {
  const { caches, namespace, target } = context;
  const found = target === undefined ? noNode : findNode(machine, target.caches, match);
  if (found.node === undefined || isVmOfOther) return { ...withoutNode, foreignNode: found.foreignNode };
  const claims = {
    nodeMatch: found.match,
    match,
    claimants: machinesMatching(found.node, caches),
    machineNamed: (name: string) => caches.machines.store.getByRef({ namespace, name }),
    clockAheadMs: clockAheadOf(context),
  };
  const other = otherMachineOf(found.node, machine, claims);
  const competing = competingMachines(found.node, machine, claims.claimants, match);
  const isDisputed = other !== undefined || (found.match !== "same" && competing.length > 0);
  // A deletion affects only the machine's own node.
  if (isDeleting(machine) && (isDisputed || belongsToOther(found.node, machine, claims)))
    return { ...withoutNode, foreignNode: found.node };
  const rivals = other === undefined || competing.includes(other) ? competing : [...competing, other].toSorted();
  return { ...found, competingMachines: rivals, isDisputed };
}

/** Finds the node of a machine in the caches. */
export function observeNode(machine: Machine, sources: NodeSources): ObservedNode {
  const { node, isDisputed, ...claimed } = claimNode(machine, sources);
  return {
    node,
    isDisputed,
    link: {
      ...claimed,
      clockAheadMs: clockAheadOf(sources.context),
      unreadNode: isDeleting(machine) ? unreadNodeOf(machine, node, sources.nodeReads) : undefined,
      sameNameNode: sameNameNodeOf(machine, sources),
    },
  };
}
