import { seededRandom } from "@millwright/core";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { createSimulatedCloud, type SimulatedCloud, type SimulatedCloudOptions } from "../simulated-cloud.ts";

/** A simulated cloud in which nothing happens before its clock goes on. VMs take 2 s to boot and 1 s to go. */
export function aStillCloud(options: Partial<SimulatedCloudOptions> = {}): {
  readonly clock: VirtualClock;
  readonly cloud: SimulatedCloud;
} {
  const clock = createVirtualClock();
  const random = seededRandom(1);
  return { clock, cloud: createSimulatedCloud({ clock, random, bootDelayMs: 2000, deleteDelayMs: 1000, ...options }) };
}
