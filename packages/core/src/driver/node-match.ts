import type { NodeAddress } from "../api/kinds/machine.ts";

/**
 * Whether a Node is that of a VM: `same` and `different` are certain, `unknown` means that the facts are not sufficient. An `unknown` Node is matched by name,
 * as MCM does (`pkg/util/provider/machinecontroller`, label `node` of the Machine).
 */
export type NodeMatch = "same" | "different" | "unknown";

/** What is known of the VM of a Machine. */
export interface VmIdentity {
  readonly machineName: string;
  /** As the driver returned it and `Machine.spec.providerID` stores it; empty before that. */
  readonly providerId: string;
  /** The Node name that the driver returned; empty before that. */
  readonly nodeName: string;
  /** `Machine.status.addresses`; empty where the driver reports none. */
  readonly addresses: readonly NodeAddress[];
}

/** What a Node reports of the VM that it runs on. */
export interface NodeIdentity {
  readonly name: string;
  /** `Node.spec.providerID`, in the form of the cloud controller manager; empty until it has set it. */
  readonly providerId: string;
  /** `Node.status.nodeInfo.systemUUID`; empty if not reported. */
  readonly systemUuid: string;
  readonly addresses: readonly NodeAddress[];
}

interface ProviderIdParts {
  readonly scheme: string;
  readonly last: string;
}

/** Scheme and last path segment of a provider id, in lower case; undefined for a text of another form. */
function partsOf(providerId: string): ProviderIdParts | undefined {
  const [, scheme, last] = /^([a-z][a-z0-9+.-]*):\/\/(?:\S*\/)?([^/\s]+)$/i.exec(providerId) ?? [];
  return scheme === undefined || last === undefined
    ? undefined
    : { scheme: scheme.toLowerCase(), last: last.toLowerCase() };
}

/**
 * Compares provider ids by scheme and last path segment, ignoring case: the two forms of one VM agree in these on most clouds, such as
 * `aws:///eu-west-1/i-0a1b` (Machine) and `aws:///eu-west-1a/i-0a1b` (Node). `unknown` unless both ids have a scheme and it is the same one.
 * This is the rule for drivers without `matchNode`.
 */
export function matchNodeByProviderId(
  { providerId: vm }: Pick<VmIdentity, "providerId">,
  { providerId: node }: Pick<NodeIdentity, "providerId">,
): NodeMatch {
  if (vm === "" || node === "") return "unknown";
  if (vm === node) return "same";
  const [a, b] = [partsOf(vm), partsOf(node)];
  if (a === undefined || b === undefined || a.scheme !== b.scheme) return "unknown";
  return a.last === b.last ? "same" : "different";
}

/** The last path segment of a provider id in lower case, by which Machines and Nodes of one VM are looked up; undefined for an empty one. */
export function providerIdKey(providerId: string | undefined): string | undefined {
  const key = (providerId ?? "").split("/").at(-1)?.toLowerCase() ?? "";
  return key === "" ? undefined : key;
}
