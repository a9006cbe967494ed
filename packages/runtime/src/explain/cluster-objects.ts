import { type DrainSources, linkOf, matchByProviderId, type Node, pickNode } from "@millwright/controllers/reports";
import { ConfigError } from "@millwright/base";
import {
  labelKeys,
  type Machine,
  type MachineClass,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";

/** Whether controllers lead a namespace. */
export interface Leaders {
  /** `unknown`: no Lease exists, as without leader election. */
  readonly leads: boolean | "unknown";
  /** A sentence for each Lease. */
  readonly text: string;
  /** Which namespaces they lead instead, a sentence after a blank; empty for none. */
  readonly elsewhere: string;
}

/** A write that an API server refuses, as the event of its object shows it. */
export interface RefusedWrite {
  readonly kind: string;
  readonly name: string;
  /** The write, and the answer of the API server. */
  readonly message: string;
  /** When it was refused last, RFC 3339. */
  readonly lastAt: string;
}

/** A class whose VMs could not be listed, as its event shows it. */
export type ListFailure = Pick<RefusedWrite, "name" | "message">;

/** The objects of a namespace that explanations are computed from: of a live cluster, or of a file. */
export interface ClusterObjects {
  readonly namespace: string;
  readonly deployments: readonly MachineDeployment[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  readonly classes: readonly MachineClass[];
  /** Absent where machines join no cluster; `unreachable` where its API server does not answer; `unread` where nodes may not be read. */
  readonly nodes?: readonly Node[] | "unreachable" | "unread";
  /** Reads what a drain of a node depends on. */
  readonly drainSources: (nodeName: string) => Promise<DrainSources>;
  /** Reads the metadata of a CRD; `undefined` where it cannot be read. Absent in a file, which has none. */
  readonly readCrd?: (name: string) => Promise<ApiObject | undefined>;
  /** Reads whether controllers lead the namespace; `undefined` where that cannot be read. Absent in a file. */
  readonly readLeaders?: (now: Date) => Promise<Leaders | undefined>;
  /** Reads since when the namespace is being deleted, RFC 3339; `undefined` where it is not, or may not be read. Absent in a file. */
  readonly readNamespaceDeletion?: () => Promise<string | undefined>;
  /** Reads the writes that the API server refuses now; none where events may not be read. Absent in a file. */
  readonly readRefusedWrites?: (now: Date) => Promise<readonly RefusedWrite[]>;
  /** Reads the classes whose VMs could not be listed lately; likewise. */
  readonly readListFailures?: (now: Date) => Promise<readonly ListFailure[]>;
  /** What could not be read, a sentence each. */
  readonly notes: readonly string[];
}

/** The node of a machine, among all nodes. */
export function nodeOfMachine(machine: Machine, nodes: readonly Node[]): Node | undefined {
  const label = machine.metadata.labels?.[labelKeys.node] ?? "";
  const named = label === "" ? undefined : nodes.find(({ metadata }) => metadata.name === label);
  const labeled = nodes.filter(({ metadata }) => metadata.labels?.[labelKeys.machineName] === machine.metadata.name);
  return pickNode(machine, { named, byId: [], labeled }, matchByProviderId).node;
}

/** The machine of a node: the one whose VM it is, then the one that the node names, then the one that names the node. */
export function machineOfNode(node: Node, machines: readonly Machine[]): Machine | undefined {
  const { name, labels } = node.metadata;
  const byName = machines.filter((machine) => linkOf(machine, node, matchByProviderId) === "unknown");
  return (
    machines.find((machine) => matchByProviderId(machine, node) === "same") ??
    byName.find(({ metadata }) => metadata.name === labels?.[labelKeys.machineName]) ??
    byName.find(({ metadata }) => metadata.labels?.[labelKeys.node] === name)
  );
}

/**
 * The object of that name.
 *
 * @throws ConfigError when there is none, or none that can be read
 */
export function findNamed<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
  { kind, plural }: { readonly kind: string; readonly plural: string },
  name: string,
  { namespace, notes }: Pick<ClusterObjects, "namespace" | "notes">,
): T {
  const found = objects.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const unreadable = notes.find((note) => note.startsWith(`${kind} "${name}" cannot be read`));
  throw new ConfigError(
    unreadable ??
      `there is no ${kind} "${name}" in namespace ${namespace}; "kubectl get ${plural} -A" lists all of them`,
  );
}
