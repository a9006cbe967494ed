import type { CheckClassRequest, CheckClassResponse } from "@millwright/core";
import { runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { checkImages } from "./checks/images.ts";
import { checkMachineType } from "./checks/machine-type.ts";
import { checkNetworks } from "./checks/networks.ts";
import { checkQuota } from "./checks/quota.ts";
import { checkPermissions } from "./checks/permissions.ts";
import type { GcpSpec } from "./spec/spec.ts";
import type { MethodCall } from "./vm/method-call.ts";

/** Checks a class against Google Cloud: credentials, permissions, and everything that the class names. Creates nothing. */
export function checkClass(
  { machineClass: { spec } }: CheckClassRequest<GcpSpec>,
  call: MethodCall,
): Promise<CheckClassResponse> {
  const { session, context } = call;
  const { signal } = context;
  return runChecks({
    first: {
      name: "Credentials",
      run: async () => {
        try {
          await session.api.getResource("region_get", `${session.project}/regions/${spec.region}`, signal);
        } catch (error) {
          // Google knows who asks before it rejects what they ask for.
          const failure = toMachineError(error, signal, "checking the credentials");
          if (failure.code !== "PermissionDenied") throw failure;
        }
        return { status: "ok", message: `Google accepts them for project "${session.project}".` };
      },
    },
    others: [
      { name: "Permissions", hasOwnPermission: true, run: () => checkPermissions(spec, call) },
      { name: "Images", hasOwnPermission: true, run: () => checkImages(spec, call) },
      { name: "Networks", hasOwnPermission: true, run: () => checkNetworks(spec, call) },
      { name: "Machine type", hasOwnPermission: true, run: () => checkMachineType(spec, call) },
      { name: "Quota", hasOwnPermission: true, run: () => checkQuota(spec, call) },
    ],
    toError: (thrown, what) => toMachineError(thrown, signal, what),
    signal,
  });
}
