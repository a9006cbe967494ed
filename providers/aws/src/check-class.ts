import type { CheckClassRequest, CheckClassResponse } from "@millwright/core";
import { type NamedCheck, runChecks } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { checkLaunch, checkTermination } from "./checks/dry-runs.ts";
import { checkImage } from "./checks/image.ts";
import { checkMachineType } from "./checks/machine-type.ts";
import { checkSecurityGroups, checkSubnets } from "./checks/network.ts";
import type { AwsSpec } from "./spec/spec.ts";
import type { MethodCall } from "./vm/method-call.ts";

/** Checks a class against EC2: credentials, the resources that it names, and a dry run of its launch. Creates nothing. */
export function checkClass(request: CheckClassRequest<AwsSpec>, call: MethodCall): Promise<CheckClassResponse> {
  const { machineClass } = request;
  const { spec } = machineClass;
  const { session, context } = call;
  const { signal } = context;
  /** EC2 checks the signature before the permissions: a denied request proves valid credentials, too. */
  const credentials: NamedCheck = {
    name: "Credentials",
    run: async () => {
      try {
        await session.api.dryRunList(signal);
      } catch (error) {
        const failure = toMachineError(error, signal, "checking the credentials");
        if (failure.code !== "PermissionDenied") throw failure;
      }
      return { status: "ok", message: `EC2 accepts them in ${session.region}.` };
    },
  };
  const listing: NamedCheck = {
    name: "Right DescribeInstances",
    run: async () => {
      await session.api.dryRunList(signal);
      return { status: "ok", message: "The driver may list VMs." };
    },
  };
  return runChecks({
    first: credentials,
    others: [
      listing,
      { name: "Image", run: () => checkImage(spec, call) },
      { name: "Subnets", run: () => checkSubnets(spec, call) },
      { name: "Security groups", hasOwnPermission: true, run: () => checkSecurityGroups(spec, call) },
      { name: "Machine type", hasOwnPermission: true, run: () => checkMachineType(spec, call) },
      { name: "Right TerminateInstances", run: () => checkTermination(call) },
      {
        name: "Quota",
        run: async () => ({
          status: "skipped",
          message: "EC2 checks the vCPU quota only when it launches a VM. See Service Quotas in the console.",
        }),
      },
    ],
    last: { name: "Launch", run: () => checkLaunch(machineClass, request.secret, call) },
    toError: (thrown, what) => toMachineError(thrown, signal, what),
    signal,
  });
}
