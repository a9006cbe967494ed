/**
 * Phases of a machine (`status.currentStatus.phase`), read by every controller here, by MCM, the cluster autoscaler and
 * `kubectl get machines`. Source: MCM, `pkg/apis/machine/v1alpha1/machine_types.go`.
 */
export const phases = {
  "": "nothing done yet, or the VM is being created",
  Pending: "the VM exists and its Node has not joined yet",
  Available: "the VM exists and there is no target cluster to join: an end state",
  CrashLoopBackOff: "creating, reading or initializing the VM fails; the creation timeout has not passed",
  Running: "the Node is healthy",
  Unknown: "the Node is missing or unhealthy; the health timeout runs",
  Failed: "timed out; the MachineSet replaces the machine unless it is preserved",
  Terminating: "the deletion flow is active",
  InPlaceUpdating: "the Node is drained and being updated in place",
  InPlaceUpdateSuccessful: "the update in place succeeded; the Node is not back to healthy yet",
  InPlaceUpdateFailed: "the update in place failed or timed out",
} as const satisfies Readonly<Record<string, string>>;

/** One of the eleven machine phases; the empty text is the first. */
export type MachinePhase = keyof typeof phases;

/** Whether a text from an object is a phase that this version knows. */
export function isMachinePhase(text: string): text is MachinePhase {
  return Object.hasOwn(phases, text);
}

/**
 * The phase of a machine: a missing phase is the empty one. `undefined` for a text that this version does not know, which
 * a caller must not treat as the empty phase (that one creates a VM).
 */
export function phaseOf(machine: {
  readonly status?: { readonly currentStatus?: { readonly phase?: string } };
}): MachinePhase | undefined {
  const text = machine.status?.currentStatus?.phase ?? "";
  return isMachinePhase(text) ? text : undefined;
}
