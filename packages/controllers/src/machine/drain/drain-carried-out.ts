import type { MachineSnapshot } from "../state/snapshot.ts";

/** Whether the machine's node is being drained: not while the machine is held, or its pods are unknown. */
export const isDrainCarriedOut = (snapshot: MachineSnapshot | undefined): boolean =>
  snapshot?.drain !== undefined && snapshot.hold === undefined && snapshot.drain.knownPods !== "disconnected";
