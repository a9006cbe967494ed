import type { Driver } from "@millwright/core";
import { type CloudDriverOptions, defineCloudDriver } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { createEc2Api, type Ec2ApiOptions } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { initializeMachine } from "./initialize-machine.ts";
import { listMachines } from "./list-machines.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { awsSecretSchema, readCredentials } from "./spec/secret.ts";
import { type AwsSpec, awsSpecSchema, awsVmSpecSchema } from "./spec/spec.ts";
import { readProviderId } from "./vm/provider-id.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createAwsDriver}. */
export interface AwsDriverOptions
  extends CloudDriverOptions, Pick<Ec2ApiOptions, "endpoint" | "requestTimeoutMs" | "maxInFlight"> {}

/** Creates the driver of EC2. It holds no state but connections, and what is known of images: every call finds its VMs by their tags. */
export function createAwsDriver(options: AwsDriverOptions = {}): Driver<AwsSpec> {
  return defineCloudDriver(
    {
      name: "aws",
      spec: awsSpecSchema,
      vmSpec: awsVmSpecSchema,
      secret: awsSecretSchema,
      credentialsOf: readCredentials,
      // The place of a VM is that of its id, also when the class has changed.
      placeOf: ({ machine: { providerId = "" } = {}, machineClass }) =>
        (providerId === "" ? "" : readProviderId(providerId).region) || machineClass.spec.region,
      openSession: (region, credentials, resources) =>
        createSession(createEc2Api({ ...options, ...resources, region, credentials }), region),
      clusterKeysOf,
      createMachine,
      initializeMachine,
      deleteMachine,
      getMachineStatus,
      listMachines: (_, call) => listMachines(call),
      volumeIdOf,
      findDrift,
      getNodeTemplate: ({ machineClass }, call) => getNodeTemplate(machineClass, call),
      // No controller calls it: its files need not be there when a controller starts.
      checkClass: async (request, call) => (await import("./check-class.ts")).checkClass(request, call),
      toMachineError,
    },
    options,
  );
}
