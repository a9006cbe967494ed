import { isConfigError, systemClock } from "@millwright/base";
import type { Log } from "@millwright/kube";
import { formatAddress } from "@millwright/kube/endpoints";
import type * as Runtime from "@millwright/runtime";

/** Where profiles are served. */
export interface HostPort {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

/** Flags about profiles. */
export interface ProfilingFlags {
  readonly profiling: boolean;
  readonly profilingAddress: HostPort;
  readonly profilingTokenFile?: string;
}

/**
 * Serves profiles, if the flags request it. Controllers run without it when the port cannot be used.
 *
 * @throws ConfigError when they may not be served at the address
 */
export async function openProfiles(
  { profiling, profilingAddress, profilingTokenFile: tokenFile }: ProfilingFlags,
  { checkProfilingAccess, serveProfiles }: Pick<typeof Runtime, "checkProfilingAccess" | "serveProfiles">,
  log: Log,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!profiling) return undefined;
  const { address, port } = profilingAddress;
  checkProfilingAccess({ address, tokenFile });
  try {
    const server = await serveProfiles({ address, port, tokenFile, clock: systemClock, log });
    log("info", "Serving profiles", { address: formatAddress({ address, port: server.port }) });
    return server;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    log("error", "Profiles are not served", { error: error.message });
    return undefined;
  }
}
