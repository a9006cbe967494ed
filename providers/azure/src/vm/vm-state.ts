import type { InstanceViewStatus, VirtualMachine } from "@azure/arm-compute";

/** The state of a VM by its provisioning state and, if needed, its instance view. */
export type VmState =
  /** There to stay. */
  | { readonly kind: "live" }
  /** Still being made. */
  | { readonly kind: "creating" }
  | { readonly kind: "deleting" }
  /** It did not start, and never will. */
  | { readonly kind: "broken"; readonly code: string; readonly message: string }
  /** A spot VM that does not run any more. */
  | { readonly kind: "reclaimed" };

/** Whether the state of a VM needs its instance view. */
export const needsInstanceView = ({ provisioningState, priority }: VirtualMachine): boolean =>
  provisioningState === "Failed" || (priority === "Spot" && provisioningState !== "Deleting");

const codeStarting = (statuses: readonly InstanceViewStatus[], start: string): InstanceViewStatus | undefined =>
  statuses.find(({ code = "" }) => code.toLowerCase().startsWith(start));

/**
 * The state of a VM. `Failed` is ambiguous: a running VM has it, too, when a later change of it failed. Only one that has no power state never ran.
 */
export function stateOf({ provisioningState, priority, instanceView }: VirtualMachine): VmState {
  const statuses = instanceView?.statuses ?? [];
  const power = codeStarting(statuses, "powerstate/")?.code?.toLowerCase();
  if (provisioningState === "Deleting") return { kind: "deleting" };
  if (priority === "Spot" && power === "powerstate/deallocated") return { kind: "reclaimed" };
  if (provisioningState === "Creating") return { kind: "creating" };
  const failure = codeStarting(statuses, "provisioningstate/failed");
  if (provisioningState !== "Failed" || failure === undefined || power !== undefined) return { kind: "live" };
  return { kind: "broken", code: failure.code?.split("/")[2] ?? "", message: failure.message ?? "" };
}
