import { createHash } from "node:crypto";
import type { JsonObject } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { Registry } from "../resources/registry.ts";
import { otherNames, servedIn, subresourcesOf, verbsOf } from "./resource-verbs.ts";
import { reviewKinds } from "../access/review-kinds.ts";

/** A group and its served versions, the preferred one first. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/** All groups except the core group, by name. */
export function servedGroups(registry: Registry): readonly ServedGroup[] {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of [...registry.all(), ...reviewKinds]) {
    if (group !== "") versions.set(group, (versions.get(group) ?? new Set()).add(version));
  }
  return [...versions]
    .map(([group, names]) => ({ group, versions: [...names].toSorted(compareVersions) }))
    .toSorted((a, b) => (a.group < b.group ? -1 : 1));
}

/** `GET /api`. */
export function apiVersions(serverAddress: string): JsonObject {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** `GET /apis`. */
export function apiGroupList(registry: Registry): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: servedGroups(registry).map(groupEntry) };
}

/** `GET /apis/GROUP`; undefined for a group that is not served. */
export function apiGroup(registry: Registry, group: string): JsonObject | undefined {
  const served = servedGroups(registry).find((candidate) => candidate.group === group);
  return served === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...groupEntry(served) };
}

/** `GET /api/v1` and `GET /apis/GROUP/VERSION`; undefined when nothing is served there. */
export function apiResourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const served = servedIn(registry, group, version);
  const resources = served.definitions.flatMap(resourceEntries);
  const reviews = served.reviews.map(({ plural, namespaced, kind }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: ["create"],
  }));
  if (resources.length + reviews.length === 0) return undefined;
  const groupVersion = group === "" ? version : `${group}/${version}`;
  // As in kube-apiserver, the list of the core group has no apiVersion.
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion,
    resources: [...resources, ...reviews],
  };
}

function groupEntry({ group, versions }: ServedGroup): JsonObject {
  const entries = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] ?? {} };
}

function resourceEntries(definition: ResourceDefinition): readonly JsonObject[] {
  const { plural, singular, namespaced, kind } = definition;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs: verbsOf(definition),
      ...otherNames(definition),
      ...(definition.origin === "built-in" ? { storageVersionHash: storageVersionHash(definition) } : {}),
    },
    ...subresourcesOf(definition).map((entry) => ({
      name: `${plural}/${entry.name}`,
      singularName: "",
      namespaced,
      ...(entry.group === definition.group ? {} : { group: entry.group, version: entry.version }),
      kind: entry.kind,
      verbs: entry.verbs,
    })),
  ];
}

/** Clients detect by it that the stored form of a kind has changed. Events are stored in the core group, CRDs as v1beta1. */
function storageVersionHash({ group, version, kind }: ResourceDefinition): string {
  const stored = kind === "Event" ? "" : group;
  const form = kind === "CustomResourceDefinition" ? "v1beta1" : version;
  return createHash("sha256").update(`${stored}/${form}/${kind}`).digest().subarray(0, 8).toString("base64");
}

const versionPattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Orders API versions by Kubernetes' preference: GA before beta before alpha, higher numbers first, then all others in
 * alphabetical order.
 */
function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    if (right !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  for (let index = 0; index < left.length; index += 1) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function rank(version: string): readonly number[] | undefined {
  const match = versionPattern.exec(version);
  if (match === null) return undefined;
  const [, major, stage, minor] = match;
  const stability = stage === undefined ? 2 : stage === "beta" ? 1 : 0;
  return [stability, Number(major), Number(minor ?? 0)];
}
