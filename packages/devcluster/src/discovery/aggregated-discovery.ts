import type { AcceptedType } from "../request/negotiation.ts";
import type { JsonObject } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { Registry } from "../resources/registry.ts";
import { servedGroups } from "./legacy-discovery.ts";
import { otherNames, servedIn, type SubresourceEntry, subresourcesOf, verbsOf } from "./resource-verbs.ts";

/** The version of aggregated discovery that a client prefers to plain JSON. */
export function aggregatedVersion(accepted: readonly AcceptedType[]): "v2" | "v2beta1" | undefined {
  for (const { mediaType, parameters } of accepted) {
    if (mediaType !== "application/json") continue;
    if (parameters.get("as") === undefined) return undefined;
    if (parameters.get("as") !== "APIGroupDiscoveryList" || parameters.get("g") !== "apidiscovery.k8s.io") continue;
    const version = parameters.get("v");
    if (version === "v2" || version === "v2beta1") return version;
  }
  return undefined;
}

/** The aggregated discovery of the core group (`/api`) or of all others (`/apis`). */
export function apiGroupDiscoveryList(registry: Registry, root: "api" | "apis", version: string): JsonObject {
  const groups = root === "api" ? [{ group: "", versions: ["v1"] }] : servedGroups(registry);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versions.map((name) => ({
        version: name,
        resources: resourcesOf(registry, group, name),
        freshness: "Current",
      })),
    })),
  };
}

function resourcesOf(registry: Registry, group: string, version: string): readonly JsonObject[] {
  const served = servedIn(registry, group, version);
  const reviews = served.reviews.map(({ plural, kind, namespaced }) => ({
    resource: plural,
    responseKind: { group: "", version: "", kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.toLowerCase(),
    verbs: ["create"],
  }));
  return [...served.definitions.map(resourceEntry), ...reviews];
}

function resourceEntry(definition: ResourceDefinition): JsonObject {
  const { kind, plural, singular, namespaced } = definition;
  const subresources = subresourcesOf(definition).map((entry) => ({
    subresource: entry.name,
    responseKind: responseKindOf(entry, definition),
    verbs: entry.verbs,
  }));
  return {
    resource: plural,
    responseKind: { group: "", version: "", kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: verbsOf(definition),
    ...otherNames(definition),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** Group and version are empty where they equal those of the list. */
function responseKindOf(entry: SubresourceEntry, { group, version }: ResourceDefinition): JsonObject {
  const isHere = entry.group === group && entry.version === version;
  return isHere
    ? { group: "", version: "", kind: entry.kind }
    : { group: entry.group, version: entry.version, kind: entry.kind };
}
