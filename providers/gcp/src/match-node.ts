import type { NodeIdentity, NodeMatch, VmIdentity } from "@millwright/core";

interface InstanceId {
  /** Empty where the id names none. */
  readonly project: string;
  readonly zone: string;
  readonly name: string;
}

/** Reads the id of an instance: of a Machine, with an empty authority, or of a Node, with the project in its place. */
function readId(providerId: string): InstanceId | undefined {
  const [, path] = /^gce:\/\/\/?([^/\s]+(?:\/[^/\s]+){1,2})$/i.exec(providerId) ?? [];
  const [name, zone, project = ""] = path?.toLowerCase().split("/").toReversed() ?? [];
  return name === undefined || zone === undefined ? undefined : { project, zone, name };
}

/** Projects also have a number, which does not follow from their id. */
const isNumber = (project: string): boolean => /^\d+$/.test(project);

/**
 * Compares `gce:///<project>/<zone>/<name>` of a Machine with `gce://<project>/<zone>/<name>`, as the cloud provider of GCP sets it on a Node
 * (kubernetes/cloud-provider-gcp, `providers/gce/gce_instances.go`, `InstanceID`). A name is unique in its zone, and a zone is one of a project.
 */
export function matchNode(vm: Pick<VmIdentity, "providerId">, node: Pick<NodeIdentity, "providerId">): NodeMatch {
  const [a, b] = [readId(vm.providerId), readId(node.providerId)];
  if (a === undefined || b === undefined) return "unknown";
  if (a.zone !== b.zone || a.name !== b.name) return "different";
  if (a.project === b.project || a.project === "" || b.project === "") return "same";
  return isNumber(a.project) === isNumber(b.project) ? "different" : "unknown";
}

/** The same for a driver in a process of its own, without projects: the number of one does not follow from its id. */
export const providerIdTemplates: readonly string[] = [
  "gce:///{_}/{zone}/{name}",
  "gce://{_}/{zone}/{name}",
  "gce:///{zone}/{name}",
  "gce://{zone}/{name}",
];
