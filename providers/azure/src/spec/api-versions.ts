import { ConfigError } from "@millwright/core";
import type { AddIssue } from "@millwright/core/driver-kit";

/**
 * The resource types that the driver requests, each with the api-version of the request.
 *
 * The defaults are the versions that MCM's Azure driver sends to all three clouds (`go.mod` of gardener/machine-controller-manager-provider-azure: armcompute v5.3.0,
 * armnetwork v4.3.0, armmarketplaceordering v1.2.0, all released on 2023-11-24): a class that works there works here. Government and China clouds get newer versions months after the
 * public one, and the SDK for JavaScript sends those of its release.
 */
export const defaultApiVersions = {
  "Microsoft.Compute/disks": "2023-04-02",
  "Microsoft.Compute/locations/publishers": "2023-07-01",
  "Microsoft.Compute/skus": "2021-07-01",
  "Microsoft.Compute/virtualMachines": "2023-07-01",
  "Microsoft.MarketplaceOrdering/offerTypes": "2021-01-01",
  "Microsoft.Network/networkInterfaces": "2023-05-01",
} as const;

/** One of the types in {@link defaultApiVersions}. */
export type ResourceType = keyof typeof defaultApiVersions;

/** The api-version of each resource type. */
export type ApiVersions = Readonly<Record<ResourceType, string>>;

/** Api-versions that differ from the default, by resource type (`Microsoft.Compute/disks`) or for all types of a provider (`Microsoft.Compute`), in any case. */
export type ApiVersionOverrides = Readonly<Record<string, string>>;

const isResourceType = (name: string): name is ResourceType => Object.hasOwn(defaultApiVersions, name);

/** All types of {@link defaultApiVersions}, in the order of the alphabet. */
export const resourceTypes: readonly ResourceType[] = Object.keys(defaultApiVersions).filter(isResourceType);

const providerOf = (type: string): string => type.slice(0, type.indexOf("/"));

/** What a key of overrides may be. */
const knownKeys: readonly string[] = [...new Set(resourceTypes.map(providerOf)), ...resourceTypes];

const versionPattern = /^\d{4}-\d{2}-\d{2}(-preview)?$/;

/** Reports keys that name no resource type of the driver, and versions that cannot be one. */
export function checkApiVersions(
  overrides: ApiVersionOverrides,
  at: readonly (string | number)[],
  addIssue: AddIssue,
): void {
  const known = new Set(knownKeys.map((key) => key.toLowerCase()));
  for (const [key, version] of Object.entries(overrides)) {
    if (!known.has(key.toLowerCase())) addIssue([...at, key], `must be one of ${knownKeys.join(", ")}`);
    if (!versionPattern.test(version)) addIssue([...at, key], "must be an API version, for example 2023-07-01");
  }
}

const overrideFor = (type: ResourceType, overrides: ApiVersionOverrides): string | undefined => {
  const byKey = new Map(Object.entries(overrides).map(([key, version]) => [key.toLowerCase(), version]));
  return byKey.get(type.toLowerCase()) ?? byKey.get(providerOf(type).toLowerCase());
};

/** The api-versions to send: those of the class, then those of the driver's option, then the defaults. A resource type has precedence over its provider. */
export function apiVersionsOf(ofClass: ApiVersionOverrides = {}, ofDriver: ApiVersionOverrides = {}): ApiVersions {
  const versions: Record<ResourceType, string> = { ...defaultApiVersions };
  for (const type of resourceTypes) {
    versions[type] = overrideFor(type, ofClass) ?? overrideFor(type, ofDriver) ?? versions[type];
  }
  return versions;
}

/**
 * Checks the driver's option.
 *
 * @throws ConfigError naming the key
 */
export function requireApiVersions(overrides: ApiVersionOverrides): ApiVersionOverrides {
  checkApiVersions(overrides, ["apiVersions"], (path, message) => {
    throw new ConfigError(`driver "azure": option ${path.join(".")} ${message}`);
  });
  return overrides;
}
