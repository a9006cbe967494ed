import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { renderCrds } from "../crds/render-crds.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { controlKubeConfig, type ControlFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright crds diff` and `millwright crds apply`. */
export interface CrdFlags extends ControlFlags {
  readonly output: "text" | "json";
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
    const isSame = reports.every(({ state }) => state === "same");
    return action === "apply" || isSame ? exitStatus.done : exitStatus.differs;
  } finally {
    await api.close();
  }
}
