import type { CheckClassRequest, CheckClassResponse } from "@millwright/core";
import { runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { checkImage } from "./checks/image.ts";
import { checkQuota } from "./checks/quota.ts";
import { checkRights } from "./checks/rights.ts";
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
      { name: "Rights", hasOwnRight: true, run: () => checkRights(spec, call) },
      { name: "Image", hasOwnRight: true, run: () => checkImage(spec, call) },
      { name: "Subnet", hasOwnRight: true, run: () => checkSubnet(spec, call) },
      { name: "Machine type", hasOwnRight: true, run: () => checkSize(spec, call) },
      { name: "Quota", hasOwnRight: true, run: () => checkQuota(spec, call) },
    ],
    toError: (thrown, what) => toMachineError(thrown, signal, what),
    signal,
  });
}
