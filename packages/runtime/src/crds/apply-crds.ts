import { crds } from "@millwright/core/machine-api";
import {
  type ApiClient,
  customResourceDefinitionResource as resource,
  isNotFound,
  type KubeObject,
} from "@millwright/kube";
import { differingPaths } from "./differing-paths.ts";

/** Name under which the fields of the CustomResourceDefinitions are owned. */
const fieldManager = "millwright-crds";

/** How one CustomResourceDefinition of a cluster compares with that of this version. */
export interface CrdReport {
  readonly name: string;
  /** `terminating`: it is being deleted, and with it whatever is applied. */
  readonly state: "same" | "missing" | "different" | "terminating";
  /** Paths of fields that applying it changes, such as `spec.versions[0].schema`; empty for one that is missing. */
  readonly paths: readonly string[];
}

/**
 * Compares the CustomResourceDefinitions of a cluster with those of this version, or makes them the same by server-side apply. The API server computes what would change, so that its
 * defaults, and fields of others, are no differences.
 *
 * @throws ApiError as the API server answers
 */
export async function applyCrds(
  api: Pick<ApiClient, "get" | "patch">,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<readonly CrdReport[]> {
  const reports: CrdReport[] = [];
  for (const crd of crds()) {
    const { name } = crd.metadata;
    const before = await find(api, name);
    const options = { kind: "apply", fieldManager, force: true, dryRun: isDryRun } as const;
    const after = await api.patch(resource, { name }, crd, options);
    const paths = before === undefined ? [] : differingPaths(before["spec"], after["spec"], "spec");
    reports.push({ name, state: stateOf(before, paths), paths });
  }
  return reports;
}

function stateOf(before: KubeObject | undefined, paths: readonly string[]): CrdReport["state"] {
  if (before === undefined) return "missing";
  if (before.metadata.deletionTimestamp != null) return "terminating";
  return paths.length > 0 ? "different" : "same";
}

async function find(api: Pick<ApiClient, "get">, name: string): Promise<KubeObject | undefined> {
  try {
    return await api.get(resource, { name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
