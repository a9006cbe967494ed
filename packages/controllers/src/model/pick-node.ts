import {
  labelKeys,
  type Machine,
  matchNodeByProviderId,
  type NodeIdentity,
  type NodeMatch,
  type VmIdentity,
} from "@millwright/core";
import { isWithoutRequest } from "./creation-intent.ts";
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
  readonly labelled: readonly Node[];
}

/** The Node of a Machine. */
export interface FoundNode {
  readonly node: Node | undefined;
  /** `same`: the ids prove that `node` is the Machine's; `unknown`: only names do, or there is none. */
  readonly match: Exclude<NodeMatch, "different">;
  /** The Node that the Machine names, when it is not the Machine's. */
  readonly foreignNode: Node | undefined;
}

/** Picks the Node of a Machine: one whose ids prove it, else the one that the Machine names, else one that names the Machine. A Node of another VM is never picked. */
export function pickNode(machine: Machine, { named, byId, labelled }: NodeCandidates, match: MatchNode): FoundNode {
  const byName = named === undefined ? labelled : [named, ...labelled];
  const matched = [...byName, ...byId].map((node) => ({ node, match: linkOf(machine, node, match) }));
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
