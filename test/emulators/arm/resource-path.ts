/** The parts of a request's path in ARM's terms. Names keep their case; ARM compares them without. */
export interface ResourcePath {
  readonly subscription: string;
  /** Resource group; empty for resources of a subscription. */
  readonly group: string;
  /** Such as `Microsoft.Compute`; empty when there is none. */
  readonly provider: string;
  /** Alternating types and names below the provider: `virtualMachines`, `m1`. */
  readonly segments: readonly string[];
}

/** Parses a path; undefined for one that is not ARM's. */
export function readResourcePath(pathname: string): ResourcePath | undefined {
  const parts = pathname.split("/").slice(1).map(decodeURIComponent);
  const [first, subscription = "", ...rest] = parts;
  if (first?.toLowerCase() !== "subscriptions") return undefined;
  const hasGroup = rest[0]?.toLowerCase() === "resourcegroups";
  const below = hasGroup ? rest.slice(2) : rest;
  // An extension, such as the permissions at a resource, follows the path of its resource.
  const at = below.findLastIndex((part) => part.toLowerCase() === "providers");
  const hasProvider = below[0]?.toLowerCase() === "providers";
  return {
    subscription,
    group: hasGroup ? (rest[1] ?? "") : "",
    provider: hasProvider ? (below[at + 1] ?? "") : "",
    segments: hasProvider ? below.slice(at + 2) : below,
  };
}

/** The ID of a resource. */
export const resourceId = (subscription: string, group: string, type: string, name: string): string =>
  `/subscriptions/${subscription}/resourceGroups/${group}/providers/${type}/${name}`;

/** Normalizes an ID for comparison. */
export const keyOf = (id: string): string => id.toLowerCase();

/** Normalizes a location for comparison: `West Europe` is `westeurope`. */
export const locationOf = (name: string): string => name.replaceAll(" ", "").toLowerCase();

/** Last part of an id. */
export const nameOf = (id: string): string => id.slice(id.lastIndexOf("/") + 1);
