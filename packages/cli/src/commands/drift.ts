import { systemClock } from "@millwright/base";
import { machineResource } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { DriftReport } from "@millwright/runtime";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderDrift } from "../drift/render-drift.ts";
import { exitUnexpectedly } from "../terminal/unexpected-error.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";
import { namespacesOf, renderNamespaces } from "../target/all-namespaces.ts";

/** Flags of `millwright drift`. */
export interface DriftFlags extends ProviderTlsFlags, AllNamespacesFlags {
  readonly deployment?: string;
  readonly provider?: readonly string[];
  readonly output: "text" | "json";
}

/** Exit status by the result. */
const statuses = { same: 0, drifted: exitStatus.differs, failed: 1 } as const;

const worstOf = (reports: readonly DriftReport[]): DriftReport["outcome"] =>
  (["failed", "drifted"] as const).find((outcome) => reports.some((each) => each.outcome === outcome)) ?? "same";

/** Prints where VMs differ from their classes; resolves with the exit status. Changes nothing. */
export async function drift(machine: string | undefined, flags: DriftFlags): Promise<number> {
  const { deployment, provider: packages = [] } = flags;
  if (machine !== undefined && deployment !== undefined)
    throw new UsageError(
      `machine "${machine}" or --deployment ${deployment}: name one of them, or none for all machines`,
    );
  if (flags.allNamespaces === true && (machine !== undefined || deployment !== undefined))
    throw new UsageError("--all-namespaces: name no machine and no deployment, or use --namespace");
  const { createDriverFinder, createJsonLog, reportDrift, superviseProcess } =
    await import("@millwright/runtime/checks");
  const log = createJsonLog("error");
  superviseProcess({ log, onOwnError: exitUnexpectedly });
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  const drivers = createCommandDrivers(flags);
  try {
    const driverFor = await createDriverFinder(packages, drivers.load);
    const signal = untilStopSignal();
    const selected = { flags, configured: config.namespace, types: [machineResource], command: "drift" };
    const namespaces = await namespacesOf(control, selected, signal);
    const report = async (namespace: string): Promise<DriftReport> =>
      reportDrift({
        control,
        namespace,
        selection:
          machine === undefined
            ? deployment === undefined
              ? { kind: "all" }
              : { kind: "deployment", name: deployment }
            : { kind: "machine", name: machine },
        driverFor,
        clock: systemClock,
        log,
        signal,
      });
    const reports: DriftReport[] = [];
    for (const namespace of namespaces) reports.push(await report(namespace));
    process.stdout.write(renderNamespaces(reports, flags, renderDrift));
    return statuses[worstOf(reports)];
  } finally {
    await Promise.all([control.close(), drivers.close()]);
  }
}
