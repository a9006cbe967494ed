import { ConfigError, systemClock } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig, noLog } from "@millwright/kube";
import type { UninstallReport } from "@millwright/runtime";
import { renderUninstall } from "../uninstall/render-uninstall.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { namespacesOf, renderNamespaces } from "../target/all-namespaces.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";

/** Flags of `millwright uninstall`. */
export interface UninstallFlags extends TargetFlags, AllNamespacesFlags {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly output: "text" | "json";
}

/** Time for requests, and for the pauses between them, milliseconds: a Lease is seen to be free by that much later. */
const EXTRA_MS = 15_000;

/** Removes finalizers and annotations of the controllers, or prints what would be removed; resolves with the exit status. */
export async function uninstall(flags: UninstallFlags): Promise<number> {
  if (flags.yes === true && flags.dryRun === true) throw new UsageError("--yes and --dry-run: use one of them");
  const runtime = await import("@millwright/runtime/checks");
  const kubeConfig = controlKubeConfig(flags);
  const config = await loadKubeConfig(kubeConfig);
  const client = { userAgent: "millwright", fieldManager: "millwright" };
  const control = createApiClient(config, client);
  const { targetKubeconfig: file } = flags;
  const hasOwnTarget = file !== undefined && file !== "none";
  const target = hasOwnTarget ? createApiClient(await loadTargetConfig(flags), client) : control;
  const signal = untilStopSignal();
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const types = [machineDeploymentResource, machineSetResource, machineResource, machineClassResource];
    const selected = { flags, configured: config.namespace, types, command: "uninstall" };
    const stages = (await namespacesOf(control, selected, signal)).map((namespace) => {
      const leadership = runtime.createManagerLeadership({ cluster: { kubeConfig }, namespace, log: noLog });
      ends.push(() => leadership.stop());
      return { leadership, options: { control, namespace, signal, ...(file === "none" ? {} : { target }) } };
    });
    // Nothing is removed from any namespace before no controller can act in all of them.
    if (flags.yes === true)
      for (const { leadership, options } of stages)
        await acquire(leadership, await runtime.planUninstall(options), signal);
    const reports: UninstallReport[] = [];
    for (const { leadership, options } of stages)
      reports.push(
        flags.yes === true ? await runtime.uninstall(options, leadership) : await runtime.planUninstall(options),
      );
    const mode = flags.yes === true ? "done" : "dry-run";
    process.stdout.write(renderNamespaces(reports, flags, (report) => renderUninstall(report, mode)));
    return 0;
  } finally {
    await Promise.all(ends.map((end) => end()));
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
