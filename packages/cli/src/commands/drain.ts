import { systemClock } from "@millwright/base";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderDrain } from "../drain/render-drain.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";

/** Flags of `millwright drain`. */
export interface DrainFlags extends TargetFlags, AllNamespacesFlags {
  readonly dryRun?: true;
  readonly output: "text" | "json";
}

/** Prints what a drain of a node would do; resolves with the exit status. Reads only. */
export async function drain(nodeName: string, flags: DrainFlags): Promise<number> {
  if (flags.dryRun !== true) {
    throw new UsageError(
      `node "${nodeName}" is drained by the controllers before its VM is deleted: delete its Machine (kubectl delete machine NAME), or add --dry-run to see what that would do`,
    );
  }
  const { previewDrain } = await import("@millwright/runtime/reports");
  if (flags.targetKubeconfig === "none")
    throw new UsageError("--target-kubeconfig none: without a cluster there are no nodes");
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  const target =
    flags.targetKubeconfig === undefined
      ? control
      : createApiClient(await loadTargetConfig(flags), { userAgent: "millwright" });
  try {
    const preview = await previewDrain({
      target,
      control,
      ...(flags.allNamespaces === true ? {} : { namespace: flags.namespace ?? config.namespace ?? "default" }),
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
