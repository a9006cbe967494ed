import { type ReviewKind, reviewKinds } from "../access/review-kinds.ts";
import type { Registry } from "../resources/registry.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";

/** What is served under a group and version: resources, and reviews, which can only be created. */
export function servedIn(registry: Registry, group: string, version: string) {
  const isHere = (kind: Pick<ReviewKind, "group" | "version">): boolean =>
    kind.group === group && kind.version === version;
  return { definitions: registry.all().filter(isHere), reviews: reviewKinds.filter(isHere) };
}

/** The names of a resource that few have. */
export const otherNames = ({ shortNames, categories }: ResourceDefinition) => ({
  ...(shortNames.length === 0 ? {} : { shortNames }),
  ...(categories.length === 0 ? {} : { categories }),
});

/** The verbs of every resource, in the order discovery lists them. */
const resourceVerbs: readonly string[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** The verbs of a resource; only namespaces have no deletecollection. */
export function verbsOf({ collection }: ResourceDefinition): readonly string[] {
  return collection === "namespaces." ? resourceVerbs.filter((verb) => verb !== "deletecollection") : resourceVerbs;
}

/** A subresource in discovery. */
export interface SubresourceEntry {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** The subresources of a resource with their kinds. */
export function subresourcesOf(definition: ResourceDefinition): readonly SubresourceEntry[] {
  const { group, version, kind, subresources } = definition;
  const changing = ["get", "patch", "update"];
  return [
    ...(subresources.binding === true
      ? [{ name: "binding", group: "", version: "v1", kind: "Binding", verbs: ["create"] }]
      : []),
    ...(subresources.eviction === true
      ? [{ name: "eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] }]
      : []),
    ...(subresources.finalize === true ? [{ name: "finalize", group, version, kind, verbs: ["update"] }] : []),
    ...(subresources.scale === undefined
      ? []
      : [{ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: changing }]),
    ...(subresources.status === true ? [{ name: "status", group, version, kind, verbs: changing }] : []),
  ];
}
