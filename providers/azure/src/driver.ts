import type { Driver } from "@millwright/core";
import { type CloudDriverOptions, defineCloudDriver } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { requestIdsOf } from "./api/request-ids.ts";
import { type AzureApiOptions, createAzureApi } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { listMachines } from "./list-machines.ts";
import { cloudAt, type CloudName } from "./spec/clouds.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { azureSecretSchema, readCredentials } from "./spec/secret.ts";
import { type AzureSpec, azureSpecSchema } from "./spec/spec.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createAzureDriver}. */
export interface AzureDriverOptions
  extends
    Pick<CloudDriverOptions, "clock" | "random">,
    Pick<AzureApiOptions, "requestTimeoutMs" | "maxInFlight" | "retryDelayMs" | "ca" | "pollMs"> {
  /** Address of Azure Resource Manager and of Entra ID, for tests and private clouds. Default: those of the class's cloud. */
  readonly endpoint?: string;
}

const defaultPollMs = 2_000;

/** Creates the driver of Azure. It holds no state but connections, tokens, and what is known of images and sizes: every call finds its VMs by name and tags. */
export function createAzureDriver(options: AzureDriverOptions = {}): Driver<AzureSpec> {
  return defineCloudDriver(
    {
      name: "azure",
      spec: azureSpecSchema,
      secret: azureSecretSchema,
      credentialsOf: readCredentials,
      placeOf: ({ machineClass }): CloudName => machineClass.spec.cloudConfiguration?.name ?? "AzurePublic",
      openSession: (cloudName, credentials, resources) =>
        createSession(
          createAzureApi({ ...options, ...resources, cloud: cloudAt(cloudName, options.endpoint), credentials }),
          credentials.subscriptionId,
        ),
      clusterKeysOf,
      createMachine,
      deleteMachine,
      getMachineStatus,
      listMachines: ({ machineClass }, call) => listMachines(machineClass, call),
      volumeIdOf,
      findDrift,
      getNodeTemplate: ({ machineClass }, call) => getNodeTemplate(machineClass, call),
      toMachineError,
      requestIdsOf,
    },
    { ...options, patience: { pollMs: options.pollMs ?? defaultPollMs } },
  );
}
