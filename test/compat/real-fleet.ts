import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import { type Fleet, type FleetNodes, type NodeLife, simulatedNodes, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import { type AuditedServer, startAuditedServer } from "./audited-server.ts";

/** A fleet on a real kube-apiserver of its own. */
export interface RealFleet extends Fleet, AuditedServer {
  /** The cluster that the VMs join: the same one, or one of its own. */
  readonly target: Pick<AuditedServer, "api" | "kubeconfig">;
  /** The flag of `millwright run` that names a cluster of its own. */
  readonly targetFlags: readonly string[];
  /** Starts controllers without leader election. They are killed with the fleet, if not before. */
  runAlone(...flags: readonly string[]): MillwrightProcess;
  /** Ends everything, the servers last, and rejects as that of {@link AuditedServer}. */
  close(): Promise<void>;
}

/** What differs from one cluster with simulated nodes. */
export interface RealFleetOptions {
  /** The VMs join a kube-apiserver of their own. Default false. */
  readonly hasOwnTarget?: boolean;
  /** Who plays the nodes. Default: simulated nodes of this repository. */
  readonly createNodes?: (target: RealFleet["target"]) => FleetNodes;
}

/** Timeout for the start of a {@link RealFleet}, milliseconds: the first start builds the server. */
export const REAL_FLEET_MS = 1_800_000;

/** Starts it. */
export async function startRealFleet(
  nodeLife: NodeLife = {},
  cloud: Partial<SimulatedCloudOptions> = {},
  { hasOwnTarget = false, createNodes = ({ api }) => simulatedNodes(api, nodeLife) }: RealFleetOptions = {},
): Promise<RealFleet> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  const startServer = async (...clusters: Parameters<typeof startAuditedServer>): Promise<AuditedServer> => {
    const server = await startAuditedServer(...clusters);
    ends.push(() => server.close());
    return server;
  };
  try {
    const server = await startServer(hasOwnTarget ? ["control"] : undefined);
    const target = hasOwnTarget ? await startServer(["target"]) : server;
    const targetFlags = hasOwnTarget ? [`--target-kubeconfig=${target.controllersKubeconfig}`] : [];
    const fleet = await startFleet(server.api, cloud, createNodes(target));
    ends.push(() => fleet.close());
    return {
      ...server,
      ...fleet,
      target,
      targetFlags,
      runAlone(...flags) {
        const process = startControllers(server.controllersKubeconfig, ...targetFlags, ...flags);
        ends.push(() => process.stop("SIGKILL"));
        return process;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
