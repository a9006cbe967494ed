import { ConfigError, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderDrain } from "../drain/render-drain.ts";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright drain`. */
export interface DrainFlags {
  readonly dryRun?: true;
  readonly kubeconfig?: string;
  readonly controlKubeconfig?: string;
  readonly namespace?: string;
  readonly output: "text" | "json";
}

/** Prints what a drain of a node would do; resolves with the exit status. Reads only. */
export async function drain(nodeName: string, flags: DrainFlags): Promise<number> {
  if (flags.dryRun !== true) {
    throw new ConfigError(
      `node "${nodeName}" is drained by the controllers before its VM is deleted: delete its Machine (kubectl delete machine NAME), or add --dry-run to see what that would do`,
    );
  }
  const { previewDrain } = await import("@millwright/runtime");
  const config = await loadKubeConfig({ file: flags.kubeconfig });
  const target = createApiClient(config, { userAgent: "millwright" });
  const controlConfig =
    flags.controlKubeconfig === undefined ? undefined : await loadKubeConfig({ file: flags.controlKubeconfig });
  const control = controlConfig === undefined ? target : createApiClient(controlConfig, { userAgent: "millwright" });
  try {
    const preview = await previewDrain({
      target,
      control,
      namespace: flags.namespace ?? (controlConfig ?? config).namespace ?? "default",
      nodeName,
      clock: systemClock,
      signal: untilStopSignal(),
    });
    process.stdout.write(flags.output === "json" ? `${JSON.stringify(preview, undefined, 2)}\n` : renderDrain(preview));
    return preview.outcome === "blocked" ? exitStatus.differs : exitStatus.done;
  } finally {
    await Promise.all([target.close(), ...(control === target ? [] : [control.close()])]);
  }
}
