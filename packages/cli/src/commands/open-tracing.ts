import { ConfigError, isRecord } from "@millwright/base";
import type { Log } from "@millwright/kube";
import type { MachineTracer } from "@millwright/runtime";

/** Flags about traces. */
export interface TracingFlags {
  readonly tracingEndpoint?: string;
}

/** Traces that are being sent. */
export interface OpenedTracing extends MachineTracer {
  close(): Promise<void>;
}

type LoadTracing = () => Promise<Pick<typeof import("@millwright/tracing"), "startTracing">>;

const isMissing = (error: unknown): boolean => isRecord(error) && error["code"] === "ERR_MODULE_NOT_FOUND";

/** Whether the environment names a collector, and does not switch traces off. */
const isWanted = (env: NodeJS.ProcessEnv): boolean =>
  [env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"], env["OTEL_EXPORTER_OTLP_ENDPOINT"]].some(
    (endpoint) => endpoint !== undefined && endpoint !== "",
  ) && env["OTEL_TRACES_EXPORTER"] !== "none";

/**
 * Starts to send traces, if the flag or the environment variables of OpenTelemetry request it. The package of traces is loaded only then. Where only the environment requests
 * them (operators set it for all pods of a cluster), a missing package is logged.
 *
 * @throws ConfigError when the flag is set and the package is not installed
 */
export async function openTracing(
  { tracingEndpoint: endpoint }: TracingFlags,
  {
    log,
    version,
    env = process.env,
  }: { readonly log: Log; readonly version: string; readonly env?: NodeJS.ProcessEnv },
  load: LoadTracing = () => import("@millwright/tracing"),
): Promise<OpenedTracing | undefined> {
  if (env["OTEL_SDK_DISABLED"] === "true" || (endpoint === undefined && !isWanted(env))) return undefined;
  const install = "traces need a package: npm install @millwright/tracing";
  try {
    const { startTracing } = await load();
    const tracing = startTracing({ env, log, version, ...(endpoint === undefined ? {} : { endpoint }) });
    log("info", "Sending traces", {});
    return tracing;
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (endpoint !== undefined) throw new ConfigError(`--tracing-endpoint: ${install}`);
    log("warn", "No traces are sent", { because: install });
    return undefined;
  }
}
