import { Secret } from "@millwright/base";
import { type Driver, type DriverDefinition, MachineError } from "@millwright/core";
import type { Machine, MachineClass } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import type { CreateVmCall } from "@millwright/controllers";
import type { Log } from "@millwright/kube";
import { vi } from "vitest";
import { aDriver } from "./fake-driver.ts";
import { createDriverHost, type DriverHostOptions } from "../drivers/driver-host.ts";

/** The machine of every call. */
export const machine: Machine = {
  metadata: { name: "m-1", namespace: "shoot", uid: "uid-1", labels: { name: "pool" }, annotations: { a: "b" } },
  spec: { class: { kind: "MachineClass", name: "small" } },
};

/** Its class. */
export const machineClass: MachineClass = {
  metadata: { name: "small", namespace: "shoot" },
  provider: "mock",
  providerSpec: { size: 1 },
  secretRef: { name: "small" },
};

/** A template that a driver may give. */
export const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "z" };

/** A secret value, which nothing that is logged or answered may hold. */
export const token = "s3cr3t-t0k3n";

/** The secret of the class. */
export const secret = { userData: Secret.of("#cloud-config of <<MACHINE_NAME>>"), token: Secret.of(token) };

/** A call for the machine. */
export const aCall = (change: Partial<CreateVmCall> = {}): CreateVmCall => ({
  machine,
  machineClass,
  secret,
  idempotencyToken: "uid-1-1",
  ...change,
});

/** The signal of a call that is not aborted. */
export const unaborted: AbortSignal = new AbortController().signal;

/** A host of one driver with these methods, beside another driver that is not called. */
export function host(
  driver: Driver | Partial<DriverDefinition<unknown>> = {},
  options: Partial<Pick<DriverHostOptions, "fence" | "metrics" | "recorder">> = {},
) {
  const clock = createVirtualClock();
  const log = vi.fn<Log>();
  const drivers = [aDriver({ name: "other" }), "capabilities" in driver ? driver : aDriver(driver)];
  return { clock, log, ...createDriverHost({ drivers, clock, log, ...options }) };
}

/** A driver that finds no VM. */
export const notFound = () => Promise.reject(new MachineError("NotFound", "no VM"));

/** A driver that finds or makes the VM. */
export const theVm = async () => ({ providerId: "vm-1", nodeName: "node-1" });

/** Whatever a driver gone wild answers or throws: no type holds it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is its point
export const wild = (value: unknown) => async () => value as never;

/** A driver that throws something. */
export const throwing = (value: unknown) => () => Promise.reject(value);
