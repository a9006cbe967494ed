import { systemClock } from "@millwright/base";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { renderRestore } from "../backup/render-restore.ts";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { exitUnexpectedly } from "../terminal/unexpected-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright restore`. */
export interface RestoreFlags extends ProviderTlsFlags, NamespaceFlags {
  readonly dryRun?: true;
  readonly withoutCloudCheck?: true;
  readonly provider?: readonly string[];
  readonly output: "text" | "json";
}

/** Creates what is missing of an export; resolves with the exit status. */
export async function restoreCommand(file: string, flags: RestoreFlags): Promise<number> {
  const { createDriverFinder, createJsonLog, restoreFleet, superviseProcess } =
    await import("@millwright/runtime/checks");
  const { readManifests } = await import("@millwright/plan");
  const log = createJsonLog("error");
  superviseProcess({ log, onOwnError: exitUnexpectedly });
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const manifests = await readManifests(file);
  const control = createApiClient(config, { userAgent: "millwright", fieldManager: "millwright" });
  const drivers = createCommandDrivers(flags);
  try {
    const report = await restoreFleet({
      control,
      namespace: flags.namespace ?? config.namespace ?? "default",
      manifests,
      isDryRun: flags.dryRun === true,
      ignoresCloud: flags.withoutCloudCheck === true,
      driverFor: await createDriverFinder(flags.provider ?? [], drivers.load),
      clock: systemClock,
      log,
      signal: untilStopSignal(),
    });
    process.stdout.write(flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderRestore(report));
    return report.objects.some(({ action }) => action === "skip") ? exitStatus.differs : exitStatus.done;
  } finally {
    await Promise.all([control.close(), drivers.close()]);
  }
}
