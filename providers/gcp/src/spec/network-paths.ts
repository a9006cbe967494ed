/** A network, and the project that it is in: with Shared VPC that of the host (https://cloud.google.com/vpc/docs/shared-vpc). */
export interface NetworkPath {
  readonly project: string;
  readonly name: string;
}

/** A subnetwork with its project and its region. */
export interface SubnetworkPath extends NetworkPath {
  readonly region: string;
}

/** Optional start of a path: the address of the API, and the project. */
const address = String.raw`(?:https://[^/]+/compute/[^/]+/)?(?:projects/([^/]+)/)?`;
const networkPattern = new RegExp(`^(?:${address}global/networks/)?([^/]+)$`);
const subnetworkPattern = new RegExp(`^(?:${address}regions/([^/]+)/subnetworks/)?([^/]+)$`);

/** Reads `network` of an interface: a name of the project, or a path; undefined for anything else. */
export function readNetwork(text: string, project: string): NetworkPath | undefined {
  const [, host = project, name] = networkPattern.exec(text) ?? [];
  return name === undefined ? undefined : { project: host, name };
}

/** Reads `subnetwork` of an interface: a name of the project and region, or a path; undefined for anything else. */
export function readSubnetwork(text: string, project: string, region: string): SubnetworkPath | undefined {
  const [, host = project, ownRegion = region, name] = subnetworkPattern.exec(text) ?? [];
  return name === undefined ? undefined : { project: host, region: ownRegion, name };
}

/** Reads a network that the schema of the class has accepted as the path that a request names it by. */
export function networkPathOf(text: string, project: string): string {
  const network = readNetwork(text, project);
  return `projects/${network?.project ?? project}/global/networks/${network?.name ?? text}`;
}

/** The same of a subnetwork. A name is sent as MCM's driver sends it: without the project. */
export function subnetworkPathOf(text: string, project: string, region: string): string {
  const subnetwork = text.includes("/") ? readSubnetwork(text, project, region) : undefined;
  if (subnetwork === undefined) return `regions/${region}/subnetworks/${text}`;
  return `projects/${subnetwork.project}/regions/${subnetwork.region}/subnetworks/${subnetwork.name}`;
}

/** Whether a name or path in a class means the resource with this URL. */
export const isPathOf = (text: string, url: string): boolean =>
  `/${url}`.endsWith(`/${text.replace(/^https:\/\/[^/]+\/compute\/[^/]+\//, "")}`);
