import type { MachineSnapshot } from "../state/snapshot.ts";

/** Whether the machine's node is being drained: not while its deletion is paused or held, or its pods are unknown. */
export const isDrainCarriedOut = (snapshot: MachineSnapshot | undefined): boolean =>
  snapshot?.drain !== undefined &&
  snapshot.pausedBy === undefined &&
  snapshot.protectedBy === undefined &&
  snapshot.heldBy === undefined &&
  snapshot.drain.knownPods !== "disconnected";
