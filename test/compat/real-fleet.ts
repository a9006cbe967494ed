import { systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import type { ControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { type Fleet, type NodeLife, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import { startRealServer } from "./real-server.ts";

/** A fleet on a real kube-apiserver of its own. */
export interface RealFleet extends Fleet {
  /** Path of a kubeconfig for the cluster. */
  readonly kubeconfig: string;
  readonly plane: Pick<ControlPlane, "url" | "ca" | "token" | "backup" | "restore">;
  /** Starts controllers without leader election. They are killed with the fleet, if not before. */
  runAlone(...flags: readonly string[]): MillwrightProcess;
}

/** Timeout for the start of a {@link RealFleet}, milliseconds: the first start builds the server. */
export const REAL_FLEET_MS = 1_800_000;

/** Starts it. `close` ends everything, the server last. */
export async function startRealFleet(
  nodeLife: NodeLife = {},
  cloud: Partial<SimulatedCloudOptions> = {},
): Promise<RealFleet> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const plane = await startRealServer();
    ends.push(() => plane.stop());
    const api = createApiClient(await loadKubeConfig({ file: plane.kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    const fleet = await startFleet(api, cloud, nodeLife);
    ends.push(() => fleet.close());
    return {
      ...fleet,
      kubeconfig: plane.kubeconfig,
      plane,
      runAlone(...flags) {
        const process = startControllers(plane.kubeconfig, ...flags);
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
