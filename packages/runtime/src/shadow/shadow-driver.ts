import type { Operations } from "@millwright/controllers";
import { MachineError } from "@millwright/core";
import type { DriverHost } from "../drivers/driver-host.ts";
import type { ShadowAction } from "./intended-action.ts";

const actionOf = { create: "CreateVM", initialize: "InitializeVM", find: "FindVM", delete: "DeleteVM" } as const;

/** Driver calls that are reported and never start. */
export const withoutStarts = (
  operations: Operations,
  onStart: (uid: string, action: ShadowAction) => void,
): Operations => ({
  ...operations,
  start: (uid, { kind }) => onStart(uid, actionOf[kind]),
});

/** Drivers that list VMs and check classes, and do nothing to a VM. No decision gets here: {@link withoutStarts} comes before. */
export function readOnlyDriver(driver: DriverHost): DriverHost {
  const refuse = async () => ({
    ok: false as const,
    error: new MachineError("FailedPrecondition", "this process only reads: it calls no driver for a VM"),
  });
  return { ...driver, ensureVm: refuse, initializeVm: refuse, findVm: refuse, deleteVm: refuse };
}
