import { once } from "node:events";
import { isConfigError, systemClock } from "@millwright/base";
import type { ApiClient, Log } from "@millwright/kube";
import type { FleetReader, Manager } from "@millwright/runtime";

/** Where the dashboard is served: an IP address and a port. */
interface Address {
  readonly address: string;
  readonly port: number;
}

/** Flags about the dashboard. */
export interface DashboardFlags {
  readonly dashboard: boolean;
  readonly dashboardAddress: Address;
}

/** What the dashboard shows, and who reviews tokens. */
export interface DashboardSources {
  readonly fleets: readonly FleetReader[];
  readonly reviewClient: Pick<ApiClient, "request">;
}

/** A page that is being served. */
export interface OpenedDashboard {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard. The package is loaded only here. */
export async function startDashboard(address: Address, sources: DashboardSources, log: Log): Promise<OpenedDashboard> {
  const [{ serveDashboard }, { toYaml }] = await Promise.all([
    import("@millwright/dashboard"),
    import("@millwright/kube/yaml"),
  ]);
  return serveDashboard({ ...address, ...sources, toYaml, clock: systemClock, log });
}

/** Serves the dashboard, if the flags request it. Controllers run without it when the port cannot be used. */
export async function openDashboard(
  { dashboard, dashboardAddress }: DashboardFlags,
  sources: DashboardSources,
  log: Log,
): Promise<OpenedDashboard | undefined> {
  if (!dashboard) return undefined;
  try {
    const opened = await startDashboard(dashboardAddress, sources, log);
    log("info", "Serving the dashboard", { address: opened.url });
    return opened;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    log("error", "The dashboard is not served", { error: `--dashboard-address: ${error.message}` });
    return undefined;
  }
}

/** Serves the dashboard of a manager until the signal aborts, if the flags request it. */
export async function runDashboard(
  flags: DashboardFlags,
  {
    manager,
    reviewClient,
    log,
  }: Pick<DashboardSources, "reviewClient"> & { readonly manager: Pick<Manager, "fleets">; readonly log: Log },
  until: AbortSignal,
): Promise<void> {
  if (!flags.dashboard) return;
  const opened = await openDashboard(flags, { fleets: manager.fleets(), reviewClient }, log);
  if (opened === undefined) return;
  if (!until.aborted) await once(until, "abort");
  await opened.close();
}
