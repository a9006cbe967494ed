import { isConfigError, systemClock } from "@millwright/base";
import { machineClassResource, machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { type ApiClient, type ClusterConfig, createApiClient, loadKubeConfig } from "@millwright/kube";
import type { Diagnosis } from "@millwright/runtime";
import { exitStatus } from "../terminal/exit-status.ts";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { renderDiagnosis } from "../doctor/render-diagnosis.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { exitUnexpectedly } from "../terminal/unexpected-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";
import { namespacesOf, renderNamespaces } from "../target/all-namespaces.ts";

/** Flags of `millwright doctor`. */
export interface DoctorFlags extends TargetFlags, ProviderTlsFlags, AllNamespacesFlags {
  readonly provider?: readonly string[];
  readonly clustersOnly?: boolean;
  readonly output: "text" | "json";
}

/** A client for a kubeconfig, or why there is none: an invalid kubeconfig does not prevent the checks of the other cluster. */
type Connection = { readonly api: ApiClient; readonly config: ClusterConfig } | { readonly problem: string };

async function connect(load: () => Promise<ClusterConfig>): Promise<Connection> {
  try {
    const config = await load();
    return { api: createApiClient(config, { userAgent: "millwright" }), config };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { problem: error.message };
  }
}

/** Prints what prevents an installation from working; resolves with the exit status: 1 when a check failed, else 0. Changes nothing. */
export async function doctor(classes: readonly string[], flags: DoctorFlags): Promise<number> {
  if (flags.allNamespaces === true && classes.length > 0)
    throw new UsageError("--all-namespaces: name no classes, or use --namespace");
  const cluster = controlKubeConfig(flags);
  const { createDriverFinder, createJsonLog, diagnose, superviseProcess } = await import("@millwright/runtime/checks");
  const log = createJsonLog("error");
  superviseProcess({ log, onOwnError: exitUnexpectedly });
  const drivers = createCommandDrivers(flags);
  const driverFor = await createDriverFinder(flags.provider ?? [], drivers.load);
  const control = await connect(() => loadKubeConfig(cluster));
  const target =
    flags.targetKubeconfig === undefined || flags.targetKubeconfig === "none"
      ? flags.targetKubeconfig
      : await connect(() => loadTargetConfig(flags));
  const configured = "config" in control ? control.config.namespace : undefined;
  try {
    const signal = untilStopSignal();
    const types = [machineClassResource, machineDeploymentResource, machineSetResource];
    const selected = { flags, configured, types, command: "doctor" };
    const namespaces =
      "api" in control
        ? await namespacesOf(control.api, selected, signal)
        : [flags.namespace ?? configured ?? "default"];
    const check = (namespace: string): Promise<Diagnosis> =>
      diagnose({
        control,
        ...(target === undefined ? {} : { target: typeof target === "string" ? "none" : target }),
        namespace,
        classes: flags.clustersOnly === true ? "none" : classes,
        driverFor,
        clock: systemClock,
        log,
        signal,
      });
    const diagnoses: Diagnosis[] = [];
    for (const namespace of namespaces) diagnoses.push(await check(namespace));
    process.stdout.write(renderNamespaces(diagnoses, flags, renderDiagnosis));
    return diagnoses.every(({ outcome }) => outcome === "ok") ? exitStatus.done : exitStatus.failed;
  } finally {
    const open = [control, target].filter((each) => typeof each === "object" && "api" in each);
    await Promise.all([...open.map(({ api }) => api.close()), drivers.close()]);
  }
}
