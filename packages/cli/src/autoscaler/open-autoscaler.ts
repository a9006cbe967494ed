import { once } from "node:events";
import { isIPv4 } from "node:net";
import { ConfigError, isConfigError, systemClock, systemRandom } from "@millwright/base";
import type { ApiClient, Log } from "@millwright/kube";
import { formatAddress } from "@millwright/kube/endpoints";
import type { Manager } from "@millwright/runtime";

/** Flags about the endpoint for the cluster autoscaler. */
export interface AutoscalerFlags {
  /** An IP address and a port. Without it nothing is served. */
  readonly autoscalerAddress?: { readonly address: string; readonly port: number };
  readonly autoscalerTlsCert?: string;
  readonly autoscalerTlsKey?: string;
  readonly autoscalerTlsClientCa?: string;
  readonly autoscalerClientNames?: readonly string[];
}

const isLoopback = (address: string): boolean => address === "::1" || (isIPv4(address) && address.startsWith("127."));

/**
 * The files of TLS that the flags name.
 *
 * @throws ConfigError when some are missing, or all at an address that is not loopback
 */
export function readAutoscalerTls({
  autoscalerAddress: at,
  autoscalerTlsCert: cert,
  autoscalerTlsKey: key,
  autoscalerTlsClientCa: clientCa,
  autoscalerClientNames: clientNames,
}: AutoscalerFlags) {
  const flags = "--autoscaler-tls-cert, --autoscaler-tls-key and --autoscaler-tls-client-ca";
  if (cert !== undefined && key !== undefined && clientCa !== undefined)
    return { cert, key, clientCa, ...(clientNames === undefined ? {} : { clientNames }) };
  if (cert !== undefined || key !== undefined || clientCa !== undefined)
    throw new ConfigError(`${flags}: use all of them, or none`);
  if (clientNames !== undefined) throw new ConfigError(`--autoscaler-client-names requires ${flags}`);
  if (at !== undefined && !isLoopback(at.address))
    throw new ConfigError(`--autoscaler-address: ${at.address} is not a loopback address and requires ${flags}`);
  return undefined;
}

/** Serves the endpoint of a manager until the signal aborts, if the flags request it. Controllers run without it when it cannot be served. The package is loaded only here. */
export async function runAutoscalerEndpoint(
  flags: AutoscalerFlags,
  {
    manager,
    control,
    log,
  }: {
    readonly manager: Pick<Manager, "fleets" | "ready">;
    readonly control: Pick<ApiClient, "get" | "patch">;
    readonly log: Log;
  },
  until: AbortSignal,
): Promise<void> {
  if (flags.autoscalerAddress === undefined) return;
  const { serveAutoscaler } = await import("@millwright/autoscaler-grpc");
  const { ready } = manager;
  try {
    const server = await serveAutoscaler({
      ...flags.autoscalerAddress,
      tls: readAutoscalerTls(flags),
      fleets: manager.fleets(),
      ready: (signal) => ready(signal),
      control,
      clock: systemClock,
      random: systemRandom,
      log,
    });
    const at = formatAddress({ ...flags.autoscalerAddress, port: server.port });
    log("info", "Serving the cluster autoscaler", { address: at });
    if (!until.aborted) await once(until, "abort");
    await server.close();
  } catch (error) {
    if (!isConfigError(error)) throw error;
    log("error", "The cluster autoscaler is not served", { error: `--autoscaler-address: ${error.message}` });
  }
}
