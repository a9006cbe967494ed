import type { MachineTemplate } from "@millwright/core/machine-api";
import { equalJson } from "@millwright/kube";

/** JSON with sorted keys: equal templates give equal text in any order of fields. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
  return `{${fields.join(",")}}`;
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Consonants and digits that form no words; the decimal digits map to `4567 89bcdf` as in Kubernetes' safe encoding. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/**
 * Hash of a template for labels and names: decimal FNV-1a of its content and the collision count. The value is opaque; a set
 * of MCM is found by comparing templates, never by hash (MCM, `pkg/controller/deployment_sync.go` getNewMachineSet).
 */
export const templateHash = (template: MachineTemplate | undefined, collisionCount: number | undefined): string =>
  String(fnv1a(canonicalJson(template) + (collisionCount === undefined ? "" : `#${collisionCount}`)));

/** Name of the set for a template hash: the deployment's name and five safe characters. */
export const machineSetName = (deployment: string, hash: string): string =>
  `${deployment}-${Array.from(hash.slice(0, 5), (digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join("")}`;

/** The parts of a template whose change requires new machines; all others are updated in place (MCM, `pkg/controller/deployment_util.go` EqualIgnoreHash). */
function rollingParts(template: MachineTemplate | undefined, hashLabel: string): readonly unknown[] {
  const { labels, ...metadata } = template?.metadata ?? {};
  const { [hashLabel]: _, ...ownLabels } = labels ?? {};
  const { class: machineClass, providerID } = template?.spec ?? {};
  const { kind: __, ...reference } = machineClass ?? {};
  // Set by the server in an embedded object, not desired state.
  const { creationTimestamp: ___, ...desired } = metadata as Record<string, unknown>;
  return [ownLabels, dropEmpty(desired), dropEmpty({ ...reference, providerID })];
}

const emptyJson: ReadonlySet<string> = new Set(["{}", "[]", '""', "null"]);

/** Empty and missing fields are equal: Go writes neither. */
const dropEmpty = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !emptyJson.has(canonicalJson(value))));

/** Whether two templates describe the same machines, the hash label aside; symmetric, unlike the Go comparison. */
export const isSameTemplate = (
  a: MachineTemplate | undefined,
  b: MachineTemplate | undefined,
  hashLabel: string,
): boolean => equalJson(rollingParts(a, hashLabel), rollingParts(b, hashLabel));
