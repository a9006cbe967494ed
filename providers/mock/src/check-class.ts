import type { CheckClassRequest, CheckClassResponse, DriverContext } from "@millwright/core";
import { runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./errors.ts";
import { clusterTags } from "./owner-tags.ts";
import type { DriverCloud } from "./reporting.ts";
import type { MockSpec } from "./spec.ts";

/** Checks what can be wrong with a class of this cloud: its server, its token and its quota. Types, zones and images are whatever a class names. */
export function checkClass(
  { machineClass: { spec } }: CheckClassRequest<MockSpec>,
  cloud: DriverCloud,
  { signal }: DriverContext,
): Promise<CheckClassResponse> {
  return runChecks({
    first: {
      name: "Credentials",
      run: async () => {
        const vms = await cloud.listVms({ tags: clusterTags(spec.cluster) }, { signal });
        return { status: "ok", message: `The cloud lists ${vms.length} VMs of cluster "${spec.cluster}".` };
      },
    },
    others: [
      {
        name: "Quota",
        run: async () => ({ status: "skipped", message: "This cloud reports its quota only when a VM is created." }),
      },
    ],
    toError: (thrown) => toMachineError(thrown, signal),
    signal,
  });
}
