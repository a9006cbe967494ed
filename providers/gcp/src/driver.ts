import { type Driver, systemClock } from "@millwright/core";
import { type CloudDriverOptions, defaultPollTimes, defineCloudDriver } from "@millwright/core/driver-kit";
import { toMachineError } from "./api/errors.ts";
import { createOwnProject } from "./api/own-project.ts";
import { createGceApi, type GceApiOptions } from "./api/sdk.ts";
import { createMachine } from "./create-machine.ts";
import { deleteMachine } from "./delete-machine.ts";
import { findDrift } from "./find-drift.ts";
import { getMachineStatus } from "./get-machine-status.ts";
import { getNodeTemplate } from "./get-node-template.ts";
import { volumeIdOf } from "./get-volume-ids.ts";
import { listMachines } from "./list-machines.ts";
import { matchNode, providerIdTemplates } from "./match-node.ts";
import { clusterKeysOf } from "./spec/cluster-keys.ts";
import { gcpSecretSchema, readCredentials } from "./spec/secret.ts";
import { type GcpSpec, gcpSpecSchema, gcpVmSpecSchema } from "./spec/spec.ts";
import { createSession } from "./vm/session.ts";

/** Options of {@link createGcpDriver}. */
export interface GcpDriverOptions
  extends CloudDriverOptions, Pick<GceApiOptions, "requestTimeoutMs" | "maxInFlight" | "readTokenFile"> {
  /** Address of Compute Engine and of all that gives out tokens, for tests. Default: Google's own. */
  readonly endpoint?: string;
}

/** Creates the driver of Compute Engine. It holds no state but access tokens: every call finds its VMs by name, tags and labels. */
export function createGcpDriver(options: GcpDriverOptions = {}): Driver<GcpSpec> {
  const { pollMs } = { ...defaultPollTimes, ...options.pollTimes };
  const ownProject = createOwnProject(options.clock ?? systemClock, options.env ?? process.env);
  return defineCloudDriver(
    {
      name: "gcp",
      spec: gcpSpecSchema,
      vmSpec: gcpVmSpecSchema,
      secret: gcpSecretSchema,
      credentialsOf: async (secret, { signal }) => {
        const credentials = readCredentials(secret);
        return credentials.project === "" ? { ...credentials, project: await ownProject(signal) } : credentials;
      },
      placeOf: (_, { project }) => project,
      openSession: (project, credentials, resources) =>
        createSession(createGceApi({ ...options, ...resources, credentials }), project, { ...resources, pollMs }),
      clusterKeysOf: ({ tags }) => clusterKeysOf(tags),
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
    },
    options,
  );
}
