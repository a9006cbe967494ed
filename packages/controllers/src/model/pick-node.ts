import {
  labelKeys,
  type Machine,
  matchNodeByProviderId,
  type NodeIdentity,
  type NodeMatch,
  type VmIdentity,
} from "@millwright/core";
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

/** The Nodes that may be a Machine's. */
export interface NodeCandidates {
  /** The one that the Machine names in its label `node`. */
  readonly named?: Node | undefined;
  /** Those whose provider id ends as the Machine's. */
  readonly byId: readonly Node[];
  /** Those that carry the Machine's name in a label. */
  readonly labelled: readonly Node[];
}

/** The Node of a Machine. */
export interface FoundNode {
  readonly node: Node | undefined;
  /** `same`: the ids prove that `node` is the Machine's; `unknown`: only names do, or there is none. */
  readonly match: Exclude<NodeMatch, "different">;
  /** The Node that the Machine names, when it belongs to another VM. */
  readonly foreignNode: Node | undefined;
}

/** Picks the Node of a Machine: one whose ids prove it, else the one that the Machine names, else one that names the Machine. A Node of another VM is never picked. */
export function pickNode(machine: Machine, { named, byId, labelled }: NodeCandidates, match: MatchNode): FoundNode {
  const byName = named === undefined ? labelled : [named, ...labelled];
  const matched = [...byName, ...byId].map((node) => ({ node, match: match(machine, node) }));
  const foreignNode = named !== undefined && matched[0]?.match === "different" ? named : undefined;
  const proved = matched.find((each) => each.match === "same");
  if (proved !== undefined) return { node: proved.node, match: "same", foreignNode };
  const unproved = matched.slice(0, byName.length).find((each) => each.match === "unknown");
  return { node: unproved?.node, match: "unknown", foreignNode };
}

/** A node, and whether it is that of the VM in question. */
export interface MatchedNode {
  readonly node: Node;
  readonly match: NodeMatch;
  /** By how much the clock of the target API server is ahead of that of the control API server, milliseconds. Default: 0. */
  readonly clockAheadMs?: number;
}
