import { createHash } from "node:crypto";
import {
  type Clock,
  type CreateMachineRequest,
  isMachineError,
  type MachineIdentity,
  Secret,
  systemClock,
} from "@millwright/core";
import { aContext, secretOf, withoutPending } from "@millwright/core/testing";
import { onTestFinished } from "vitest";
import { createCloudServer } from "../cloud-server.ts";
import type { CreateVmInput } from "../cloud.ts";
import { createMockDriver } from "../driver.ts";
import { createSimulatedCloud } from "../simulated-cloud.ts";
import { type MockSpec, mockSpecSchema } from "../spec.ts";

export { aContext, aMachine } from "@millwright/core/testing";

/** Where the cloud of a driver may be. */
export const places = ["in process", "over HTTP"] as const;

/** Token of the cloud over HTTP. */
export const canary = "canary-c0ffee-token";

/** A `providerSpec` with nothing but what is required. */
export const aSpec = (spec: object = {}): MockSpec => mockSpecSchema.parse({ machineType: "small", ...spec });

/** A VM that was created without the driver. */
export const aVm = (name: string, given: Partial<CreateVmInput> = {}): CreateVmInput => ({
  name,
  token: `token-${name}`,
  machineType: "small",
  region: "local",
  zone: "local-a",
  image: "simulated",
  ...given,
});

/** How a call ended: the code of its error, or `OK`. */
export const codeOf = async (call: Promise<unknown> | undefined): Promise<string> => {
  try {
    await call;
    return "OK";
  } catch (error) {
    return isMachineError(error) ? error.code : `not a MachineError: ${String(error)}`;
  }
};

/** A simulated cloud, its driver, and common calls. They end with the test. With a virtual clock the cloud only progresses when the clock is advanced. */
export async function aCloud(place: (typeof places)[number], clock: Clock = systemClock) {
  const cloud = createSimulatedCloud({ clock, bootDelayMs: 40, deleteDelayMs: 60, maxVms: 40 });
  const server = createCloudServer(cloud, { token: Secret.of(canary) });
  const { url } = await server.listen();
  onTestFinished(async () => {
    cloud.close();
    await server.close();
  });
  const { driver, secret } =
    place === "in process"
      ? { driver: withoutPending(createMockDriver({ cloud })), secret: secretOf({ userData: "#!/bin/sh" }) }
      : // As a host loads it: the secret has the address of the cloud.
        {
          driver: withoutPending(createMockDriver()),
          secret: secretOf({ endpoint: `${url}\n`, token: canary, userData: "#!/bin/sh" }),
        };

  /** A request to make a machine; it also serves for every other method. */
  const requestFor = (
    machine: MachineIdentity,
    spec: MockSpec = aSpec(),
    userData: string | Uint8Array = "#!/bin/sh",
  ): CreateMachineRequest<MockSpec> => ({
    machine,
    machineClass: { name: "example", spec },
    secret,
    idempotencyToken: createHash("sha256").update(machine.uid).digest("hex"),
    userData: Secret.of(userData),
  });
  return {
    cloud,
    driver,
    secret,
    requestFor,
    create: (machine: MachineIdentity, spec?: MockSpec, userData?: string | Uint8Array) =>
      driver.createMachine(requestFor(machine, spec, userData), aContext()),
    status: (machine: MachineIdentity) => driver.getMachineStatus(requestFor(machine), aContext()),
    remove: (machine: MachineIdentity, signal?: AbortSignal) =>
      driver.deleteMachine(requestFor(machine), aContext(signal)),
    list: (cluster: string) =>
      driver.listMachines?.({ machineClass: { name: "x", spec: aSpec({ cluster }) }, secret }, aContext()),
  };
}
