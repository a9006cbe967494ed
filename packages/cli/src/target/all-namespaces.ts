import type { ResourceType } from "@millwright/base";
import { type ApiClient, listAll } from "@millwright/kube";
import { plain } from "../terminal/text.ts";
import type { AllNamespacesFlags } from "./cluster-flags.ts";

/** How the namespaces of a command are found. */
export interface NamespaceSelection {
  readonly flags: Pick<AllNamespacesFlags, "namespace" | "allNamespaces">;
  /** The namespace of the kubeconfig, if it names one. */
  readonly configured: string | undefined;
  /** The kinds that the command is about. */
  readonly types: readonly ResourceType[];
  /** What lists them, for errors. */
  readonly command: string;
}

/**
 * The namespaces of a command: one, or with `-A` all that have objects of its kinds, sorted.
 *
 * @throws ConfigError when they cannot be listed
 */
export async function namespacesOf(
  api: ApiClient,
  { flags, configured, types, command }: NamespaceSelection,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (flags.allNamespaces !== true) return [flags.namespace ?? configured ?? "default"];
  const { explainFailure } = await import("@millwright/runtime/reports");
  const plurals = types.map(({ plural }) => plural).join(", ");
  try {
    const lists = await Promise.all(
      types.map((type) => listAll(api, type, { metadataOnly: true, omitManagedFields: true }, { signal })),
    );
    const found = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.namespace ?? ""));
    return [...new Set(found)].toSorted();
  } catch (error) {
    throw explainFailure(error, `${command} needs to list ${plurals} in all namespaces`);
  }
}

/** What a command prints about its namespaces: with `-A` a JSON list, or texts below the names of their namespaces. */
export function renderNamespaces<T extends { readonly namespace: string }>(
  reports: readonly T[],
  { allNamespaces, output }: { readonly allNamespaces?: true; readonly output: "text" | "json" },
  render: (report: T) => string,
): string {
  if (output === "json") return `${JSON.stringify(allNamespaces === true ? reports : reports[0], undefined, 2)}\n`;
  if (allNamespaces !== true) return reports.map(render).join("\n");
  if (reports.length === 0) return "There are no such objects in any namespace.\n";
  return reports.map((report) => `Namespace ${plain(report.namespace)}:\n\n${render(report)}`).join("\n");
}
