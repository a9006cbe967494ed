import {
  type Budget,
  type Claim,
  claimNames,
  type DrainSources,
  type Pod,
  type Volume,
  type VolumeAttachment,
} from "@millwright/controllers/reports";

/** Lists of what drains look at. */
export interface DrainLists {
  /** A pod may be in it twice. */
  readonly pods: readonly Pod[];
  readonly budgets: readonly Budget[];
  readonly claims: readonly Claim[];
  readonly volumes: readonly Volume[];
  readonly attachments: readonly VolumeAttachment[];
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

const byKey = <T extends Claim | Pod | Volume>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [keyOf(object.metadata.namespace, object.metadata.name), object]));

/** Reads from lists. No driver is called: ids of volumes are those of CSI. No evictions are assumed. */
export function drainSourcesOf({ pods, budgets, claims, volumes, attachments }: DrainLists): DrainSources {
  const claimByKey = byKey(claims);
  const volumeByKey = byKey(volumes);
  const each = [...byKey(pods).values()];
  const podsByNode = Map.groupBy(each, ({ spec }) => spec?.nodeName ?? "");
  const attachmentsByVolume = Map.groupBy(attachments, ({ spec }) => spec?.source?.persistentVolumeName ?? "");
  const podsByClaim = Map.groupBy(
    each.flatMap((pod) => claimNames(pod).map((name) => ({ pod, claim: keyOf(pod.metadata.namespace, name) }))),
    ({ claim }) => claim,
  );
  const budgetsByNamespace = Map.groupBy(budgets, ({ metadata }) => metadata.namespace ?? "");
  return {
    podsOn: (nodeName) => podsByNode.get(nodeName) ?? [],
    budgetsIn: (namespace) => budgetsByNamespace.get(namespace) ?? [],
    claim: (namespace, name) => claimByKey.get(keyOf(namespace, name)),
    volume: (name) => volumeByKey.get(keyOf("", name)),
    volumeId: () => undefined,
    attachmentsOf: (name) => attachmentsByVolume.get(name) ?? [],
    podsWithClaim: (claim) => (podsByClaim.get(claim) ?? []).map(({ pod }) => pod),
    eviction: () => undefined,
  };
}
