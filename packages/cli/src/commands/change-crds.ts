import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { CrdReport } from "@millwright/runtime";
import { renderCrds } from "../crds/render-crds.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { controlKubeConfig, type ControlFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright crds diff` and `millwright crds apply`. */
export interface CrdFlags extends ControlFlags {
  readonly output: "text" | "json";
}

/** What is applied to a CRD that is being deleted does not stay. */
export function statusOf(action: "diff" | "apply", reports: readonly CrdReport[]): number {
  if (action === "apply")
    return reports.some(({ state }) => state === "terminating") ? exitStatus.failed : exitStatus.done;
  return reports.every(({ state }) => state === "same") ? exitStatus.done : exitStatus.differs;
}

/** Compares the CustomResourceDefinitions of a cluster with those of this version, or applies these; resolves with the exit status. */
export async function changeCrds(action: "diff" | "apply", flags: CrdFlags): Promise<number> {
  const { applyCrds } = await import("@millwright/runtime/reports");
  const api = createApiClient(await loadKubeConfig(controlKubeConfig(flags)), { userAgent: "millwright" });
  try {
    const reports = await applyCrds(api, { isDryRun: action === "diff" });
    process.stdout.write(
      flags.output === "json" ? `${JSON.stringify(reports, undefined, 2)}\n` : renderCrds(action, reports),
    );
    return statusOf(action, reports);
  } finally {
    await api.close();
  }
}
