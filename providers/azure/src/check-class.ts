import type { CheckClassRequest, CheckClassResponse } from "@millwright/core";
import { runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { checkImage } from "./checks/image.ts";
import { checkQuota } from "./checks/quota.ts";
import { checkPermissions } from "./checks/permissions.ts";
import { checkSize } from "./checks/size.ts";
import { checkSubnet } from "./checks/subnet.ts";
import type { AzureSpec } from "./spec/spec.ts";
import type { MethodCall } from "./vm/method-call.ts";

/** Checks a class against Azure: credentials, permissions, and everything that the class names. Creates nothing, and accepts no terms. */
export function checkClass(
  { machineClass: { spec } }: CheckClassRequest<AzureSpec>,
  call: MethodCall,
): Promise<CheckClassResponse> {
  const { session, context } = call;
  const { signal } = context;
  return runChecks({
    first: {
      name: "Credentials",
      run: async () => {
        try {
          await session.api.listVms(spec.resourceGroup, signal);
        } catch (error) {
          // Entra ID has given out a token by then.
          const failure = toMachineError(error, signal, "checking the credentials");
          if (failure.code !== "PermissionDenied") throw failure;
        }
        return { status: "ok", message: `Azure accepts them for subscription ${session.subscriptionId}.` };
      },
    },
    others: [
      { name: "Permissions", hasOwnPermission: true, run: () => checkPermissions(spec, call) },
      { name: "Image", hasOwnPermission: true, run: () => checkImage(spec, call) },
      { name: "Subnet", hasOwnPermission: true, run: () => checkSubnet(spec, call) },
      { name: "Machine type", hasOwnPermission: true, run: () => checkSize(spec, call) },
      { name: "Quota", hasOwnPermission: true, run: () => checkQuota(spec, call) },
    ],
    toError: (thrown, what) => toMachineError(thrown, signal, what),
    signal,
  });
}
