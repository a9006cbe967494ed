import { ConfigError, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderDrift } from "../drift/render-drift.ts";
import { exitUnexpectedly } from "../terminal/unexpected-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright drift`. */
export interface DriftFlags extends ProviderTlsFlags {
  readonly deployment?: string;
  readonly provider?: readonly string[];
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly output: "text" | "json";
}

/** Exit status by the result. */
const statuses = { same: 0, drifted: exitStatus.differs, failed: 1 } as const;

/** Prints where VMs differ from their classes; resolves with the exit status. Changes nothing. */
export async function drift(machine: string | undefined, flags: DriftFlags): Promise<number> {
  const { deployment, provider: packages = [] } = flags;
  if (machine !== undefined && deployment !== undefined)
    throw new ConfigError(
      `machine "${machine}" or --deployment ${deployment}: name one of them, or none for all machines`,
    );
  const { createDriverFinder, createJsonLog, reportDrift, superviseProcess } = await import("@millwright/runtime");
  const log = createJsonLog("error");
  superviseProcess({ log, onOwnError: exitUnexpectedly });
  const config = await loadKubeConfig({ file: flags.kubeconfig });
  const control = createApiClient(config, { userAgent: "millwright" });
  const drivers = createCommandDrivers(flags);
  try {
    const driverFor = await createDriverFinder(packages, drivers.load);
    const report = await reportDrift({
      control,
      namespace: flags.namespace ?? config.namespace ?? "default",
      selection:
        machine === undefined
          ? deployment === undefined
            ? { kind: "all" }
            : { kind: "deployment", name: deployment }
          : { kind: "machine", name: machine },
      driverFor,
      clock: systemClock,
      log,
      signal: untilStopSignal(),
    });
    process.stdout.write(flags.output === "json" ? `${JSON.stringify(report, undefined, 2)}\n` : renderDrift(report));
    return statuses[report.outcome];
  } finally {
    await Promise.all([control.close(), drivers.close()]);
  }
}
