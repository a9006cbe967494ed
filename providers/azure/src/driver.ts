import type { Driver } from "@millwright/core";
import { type CloudDriverOptions, defineCloudDriver } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { requestIdsOf } from "./api/request-ids.ts";
import { type AzureApiOptions, createAzureApi, defaultPollMs } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { listMachines } from "./list-machines.ts";
import { matchNode, providerIdTemplates } from "./match-node.ts";
import { type ApiVersionOverrides, requireApiVersions } from "./spec/api-versions.ts";
import { cloudAt } from "./spec/clouds.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { placeOf, readPlace } from "./spec/place.ts";
import { azureSecretSchema, readCredentials } from "./spec/secret.ts";
import { type AzureSpec, azureSpecSchema, azureVmSpecSchema } from "./spec/spec.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createAzureDriver}. */
export interface AzureDriverOptions
  extends
    Pick<CloudDriverOptions, "clock" | "random" | "env">,
    Pick<AzureApiOptions, "requestTimeoutMs" | "maxInFlight" | "ca" | "pollMs" | "httpClient"> {
  /** Address of Azure Resource Manager and of Entra ID, for tests and private clouds. Default: those of the class's cloud. */
  readonly endpoint?: string;
  /**
   * Versions of Azure's API by resource type (`Microsoft.Compute/disks`) or provider (`Microsoft.Compute`), for all classes that do not set their own in `cloudConfiguration.apiVersions`. Default:
   * versions that all clouds of Azure have had since 2024.
   */
  readonly apiVersions?: ApiVersionOverrides;
}

/**
 * Creates the driver of Azure. It holds no state but connections, tokens, and what is known of images and sizes: every call finds its VMs by name and tags.
 *
 * @throws ConfigError for api-versions of types that it does not request
 */
export function createAzureDriver(options: AzureDriverOptions = {}): Driver<AzureSpec> {
  const apiVersionsOfDriver = requireApiVersions(options.apiVersions ?? {});
  return defineCloudDriver(
    {
      name: "azure",
      spec: azureSpecSchema,
      vmSpec: azureVmSpecSchema,
      secret: azureSecretSchema,
      credentialsOf: readCredentials,
      placeOf: ({ machineClass }) => placeOf(machineClass.spec, apiVersionsOfDriver),
      openSession: (place, credentials, resources) => {
        const { cloud, apiVersions } = readPlace(place);
        const at = cloudAt(cloud, options.endpoint);
        return createSession(
          createAzureApi({ ...options, ...resources, cloud: at, apiVersions, credentials }),
          credentials.subscriptionId,
        );
      },
      clusterKeysOf,
      createMachine,
      deleteMachine,
      getMachineStatus,
      listMachines: ({ machineClass }, call) => listMachines(machineClass, call),
      matchNode,
      providerIdTemplates,
      volumeIdOf,
      findDrift,
      getNodeTemplate: ({ machineClass }, call) => getNodeTemplate(machineClass, call),
      // No controller calls it: its files need not be there when a controller starts.
      checkClass: async (request, call) => (await import("./check-class.ts")).checkClass(request, call),
      toMachineError,
      requestIdsOf,
    },
    { ...options, pollTimes: { pollMs: options.pollMs ?? defaultPollMs } },
  );
}
