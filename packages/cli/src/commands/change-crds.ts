import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { renderCrds } from "../crds/render-crds.ts";
import { exitStatus } from "../terminal/exit-status.ts";

/** Flags of `millwright crds diff` and `millwright crds apply`. */
export interface CrdFlags {
  readonly controlKubeconfig?: string;
}

/** Compares the CustomResourceDefinitions of a cluster with those of this version, or applies these; resolves with the exit status. */
export async function changeCrds(action: "diff" | "apply", { controlKubeconfig: file }: CrdFlags): Promise<number> {
  const { applyCrds } = await import("@millwright/runtime");
  const api = createApiClient(await loadKubeConfig({ file }), { userAgent: "millwright" });
  try {
    const reports = await applyCrds(api, { isDryRun: action === "diff" });
    process.stdout.write(renderCrds(action, reports));
    const isSame = reports.every(({ state }) => state === "same");
    return action === "apply" || isSame ? exitStatus.done : exitStatus.differs;
  } finally {
    await api.close();
  }
}
