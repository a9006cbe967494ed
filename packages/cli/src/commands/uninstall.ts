import { ConfigError, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig, noLog } from "@millwright/kube";
import type { UninstallReport } from "@millwright/runtime";
import { renderUninstall } from "../uninstall/render-uninstall.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright uninstall`. */
export interface UninstallFlags extends TargetFlags, NamespaceFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly output: "text" | "json";
}

/** Time for requests, and for the pauses between them, milliseconds: a Lease is seen to be free by that much later. */
const EXTRA_MS = 5_000;

/** Removes finalizers and annotations of the controllers, or prints what would be removed; resolves with the exit status. */
export async function uninstall(flags: UninstallFlags): Promise<number> {
  if (flags.yes === true && flags.dryRun === true) throw new UsageError("--yes and --dry-run: use one of them");
  const runtime = await import("@millwright/runtime");
  const kubeConfig = controlKubeConfig(flags);
  const config = await loadKubeConfig(kubeConfig);
  const client = { userAgent: "millwright", fieldManager: "millwright" };
  const control = createApiClient(config, client);
  const { targetKubeconfig: file } = flags;
  const hasOwnTarget = file !== undefined && file !== "none";
  const target = hasOwnTarget ? createApiClient(await loadTargetConfig(flags), client) : control;
  const namespace = flags.namespace ?? config.namespace ?? "default";
  const signal = untilStopSignal();
  const options = { control, namespace, signal, ...(file === "none" ? {} : { target }) };
  const leadership = runtime.createManagerLeadership({ cluster: { kubeConfig }, namespace, log: noLog });
  try {
    if (flags.yes === true) await acquire(leadership, await runtime.planUninstall(options), signal);
    const report =
      flags.yes === true ? await runtime.uninstall(options, leadership) : await runtime.planUninstall(options);
    const text = renderUninstall(report, flags.yes === true ? "done" : "dry-run");
    process.stdout.write(flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : text);
    return 0;
  } finally {
    await leadership.stop();
    await Promise.all([control.close(), ...(hasOwnTarget ? [target.close()] : [])]);
  }
}

/** Waits until no controller can act, so that none puts back what is removed. */
async function acquire(
  leadership: { acquired(signal: AbortSignal): Promise<void> },
  { holders }: Pick<UninstallReport, "holders">,
  signal: AbortSignal,
): Promise<void> {
  const late = new AbortController();
  const waitMs = holders.reduce((ms, { leaseSeconds }) => Math.max(ms, leaseSeconds * 1_000), 0) + EXTRA_MS;
  const timer = systemClock.setTimer(waitMs, () => late.abort(new Error("the leases are held")));
  if (holders.length > 0) process.stderr.write(`Waiting up to ${waitMs / 1_000} s until the leases expire.\n`);
  try {
    await leadership.acquired(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (!late.signal.aborted) throw error;
    const names = [...new Set(holders.map(({ holder }) => holder))].join(", ");
    throw new ConfigError(`Cannot uninstall: ${names || "another process"} leads; stop all controllers first`, {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}
