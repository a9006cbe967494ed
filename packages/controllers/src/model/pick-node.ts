import { matchNodeByProviderId, type NodeIdentity, type NodeMatch, type VmIdentity } from "@millwright/core";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { isWithoutRequest } from "./creation-intent.ts";
import { isReadyNode } from "./node-condition.ts";
import { hasId } from "./provisioning.ts";
import type { Node } from "./node-objects.ts";

/** Whether a Node is that of a VM, as the driver of a `MachineClass.provider` answers. */
export type MatchVm = (provider: string | undefined, vm: VmIdentity, node: NodeIdentity) => NodeMatch;

/** Whether a Node is that of a Machine's VM. */
export type MatchNode = (machine: Machine, node: Node) => NodeMatch;

/** What the objects report of a Machine's VM. */
export const vmIdentityOf = ({ metadata, spec, status }: Machine): VmIdentity => ({
  machineName: metadata.name,
  providerId: spec.providerID ?? "",
  nodeName: metadata.labels?.[labelKeys.node] ?? "",
  addresses: status?.addresses ?? [],
});

/** What a Node reports of its VM. */
export const nodeIdentityOf = ({ metadata, spec, status }: Node): NodeIdentity => ({
  name: metadata.name,
  providerId: spec?.providerID ?? "",
  systemUuid: status?.nodeInfo?.systemUUID ?? "",
  addresses: status?.addresses ?? [],
});

/** The default rule; for callers without drivers. */
export const matchByProviderId: MatchNode = (machine, node) =>
  matchNodeByProviderId(vmIdentityOf(machine), nodeIdentityOf(node));

/**
 * What links a Node to a Machine: the ids, or else names. Without an id the Machine has no VM yet, and its label `node` may be that of a template or of a copied manifest: then only a Node that names the Machine in
 * its own label may be the Machine's.
 */
export function linkOf(machine: Machine, node: Node, match: MatchNode): NodeMatch {
  const found = match(machine, node);
  if (found !== "unknown" || hasId(machine)) return found;
  const isNamed = node.metadata.labels?.[labelKeys.machineName] === machine.metadata.name;
  return isNamed && !isWithoutRequest(machine) ? "unknown" : "different";
}

/** The Nodes that may be a Machine's. */
export interface NodeCandidates {
  /** The one that the Machine names in its label `node`. */
  readonly named?: Node | undefined;
  /** Those whose provider id ends as the Machine's. */
  readonly byId: readonly Node[];
  /** Those that carry the Machine's name in a label. */
  readonly labeled: readonly Node[];
}

/** The Node of a Machine. */
export interface FoundNode {
  readonly node: Node | undefined;
  /** `same`: the ids prove that `node` is the Machine's; `unknown`: only names do, or there is none. */
  readonly match: Exclude<NodeMatch, "different">;
  /** The Node that the Machine names, when it is not the Machine's. */
  readonly foreignNode: Node | undefined;
  /** Further Nodes that are proven to be the VM's; usually none. */
  readonly otherNodes: readonly Node[];
}

/** Whether the cloud names the VMs of two Nodes alike, and the second one names no other Machine. */
function isOfSameVm(first: Node, { metadata, spec }: Node, machine: Machine): boolean {
  const owner = metadata.labels?.[labelKeys.machineName] ?? "";
  const isSame = spec?.providerID?.toLowerCase() === first.spec?.providerID?.toLowerCase();
  return isSame && (owner === "" || owner === machine.metadata.name);
}

/**
 * Of several Nodes of one VM, which its kubelet registers when its host name changes, the ready and younger one counts. While none is ready, the first one does, which the Machine names: so a kubelet that is not ready for
 * a moment moves nothing.
 */
function nodeThatCounts(first: Node, nodes: readonly Node[]): Node {
  const createdAt = ({ metadata }: Node): string => metadata.creationTimestamp ?? "";
  const [ready, ...others] = nodes.filter(isReadyNode);
  return others.reduce((best, node) => (createdAt(node) > createdAt(best) ? node : best), ready ?? first);
}

/** Picks the Node of a Machine: one whose ids prove it, else the one that the Machine names, else one that names the Machine. A Node of another VM is never picked. */
export function pickNode(machine: Machine, { named, byId, labeled }: NodeCandidates, match: MatchNode): FoundNode {
  const byName = named === undefined ? labeled : [named, ...labeled];
  const matched = [...byName, ...byId].map((node) => ({ node, match: linkOf(machine, node, match) }));
  const foreignNode = named !== undefined && matched[0]?.match === "different" ? named : undefined;
  const proved = [...new Set(matched.filter((each) => each.match === "same").map(({ node }) => node))];
  const [first] = proved;
  if (first !== undefined) {
    const ofVm = proved.filter((each) => each === first || isOfSameVm(first, each, machine));
    const node = nodeThatCounts(first, ofVm);
    return { node, match: "same", foreignNode, otherNodes: ofVm.filter((each) => each !== node) };
  }
  const unproved = matched.slice(0, byName.length).find((each) => each.match === "unknown");
  return { node: unproved?.node, match: "unknown", foreignNode, otherNodes: [] };
}

/** A node, and whether it is that of the VM in question. */
export interface MatchedNode {
  readonly node: Node;
  readonly match: NodeMatch;
  /** By how much the clock of the target API server is ahead of that of the control API server, milliseconds. Default: 0. */
  readonly clockAheadMs?: number;
}
