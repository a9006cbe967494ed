import {
  type Budget,
  type Claim,
  claimNames,
  type DrainSources,
  type Pod,
  type Volume,
  type VolumeAttachment,
} from "@millwright/controllers/reports";
import {
  type ApiClient,
  ignoreNotFound,
  listAll,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { drainSourcesOf } from "./drain-sources-of.ts";

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;

/**
 * Reads once what a drain of the node looks at: its pods, and of their namespaces the budgets, claims and, where claims are used, the pods elsewhere that may want them. No driver is asked: ids of
 * volumes are those of CSI. No evictions are assumed.
 */
export async function readDrainSources(
  api: Pick<ApiClient, "get" | "list">,
  nodeName: string,
  signal?: AbortSignal,
): Promise<DrainSources> {
  const call = signal === undefined ? {} : { signal };
  const onNode = { fieldSelector: `spec.nodeName=${nodeName}`, omitManagedFields: true };
  const { items: pods } = await listAll<Pod>(api, podResource, onNode, call);
  const inNamespaces = <T>(of: readonly Pod[], list: (namespace: string) => Promise<readonly T[]>): Promise<T[]> =>
    Promise.all([...new Set(of.map(({ metadata }) => metadata.namespace ?? ""))].map(list)).then((all) => all.flat());

  const users = pods.filter((pod) => claimNames(pod).length > 0);
  const [budgets, claims, others, attachments] = await Promise.all([
    inNamespaces(pods, async (namespace) => {
      return (await listAll<Budget>(api, podDisruptionBudgetResource, { namespace }, call)).items;
    }),
    inNamespaces(users, async (namespace) => {
      return (await listAll<Claim>(api, persistentVolumeClaimResource, { namespace }, call)).items;
    }),
    inNamespaces(users, async (namespace) => {
      return (await listAll<Pod>(api, podResource, { namespace, omitManagedFields: true }, call)).items;
    }),
    listAll<VolumeAttachment>(api, volumeAttachmentResource, {}, call).then(({ items }) => items),
  ]);
  const claimByKey = new Map(claims.map((claim) => [keyOf(claim.metadata.namespace, claim.metadata.name), claim]));
  const volumeNames = new Set(
    users.flatMap((pod) =>
      claimNames(pod).map((name) => claimByKey.get(keyOf(pod.metadata.namespace, name))?.spec?.volumeName ?? ""),
    ),
  );
  const volumes = await Promise.all(
    [...volumeNames]
      .filter((name) => name !== "")
      .map((name) => ignoreNotFound(api.get<Volume>(persistentVolumeResource, { name }, call))),
  );
  return drainSourcesOf({
    pods: [...pods, ...others],
    budgets,
    claims,
    volumes: volumes.filter(isPresent),
    attachments,
  });
}
