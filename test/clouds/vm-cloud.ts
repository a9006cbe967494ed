import { Secret, type SecretData } from "@millwright/base";
import type { CreateMachineRequest } from "@millwright/core";
import { aMachine } from "@millwright/core/testing";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, type NodeOptions, patienceMs } from "./cloud-installation.ts";

/** A VM as a cloud shows it. */
export interface CloudVm {
  readonly id: string;
  /** Name of its machine. */
  readonly machine: string;
  readonly image: string;
  /** Its user data. */
  readonly userData: string;
}

/** The result of a driver's creation. */
export interface MadeVm {
  readonly providerId: string;
  readonly nodeName: string;
}

/** A cloud behind an emulator, and an installation on it with a class `pool`, whose user data is {@link userData}. */
export interface VmCloud {
  readonly installation: CloudInstallation;
  /** The VM and all of its resources in the cloud. */
  readonly thingsPerVm: number;
  /** A class of the same kind with another image. */
  readonly newer: { readonly providerSpec: Readonly<Record<string, unknown>>; readonly image: string };
  vms(): readonly CloudVm[] | Promise<readonly CloudVm[]>;
  /** The number of VMs ever created. */
  launches(): number | Promise<number>;
  /** All remaining resources of launches: VMs, disks, interfaces. */
  things(): readonly unknown[] | Promise<readonly unknown[]>;
  /** Creates the VM of a machine of the class `pool` as MCM's driver does: without the tags or labels of our drivers. */
  makeAsMcm(machine: string): Promise<MadeVm>;
  /** Stops everything. Fails with the emulator's own errors. */
  close(): Promise<void>;
}

/** Optional settings of the cloud of a test. */
export interface CloudOptions {
  /** Its delays. Default `quick`. */
  readonly pace?: "quick" | "slow";
  /** Default: on-demand VMs, which are not reclaimed. */
  readonly market?: "spot";
  readonly nodes?: NodeOptions;
}

/** User data of the class secret. */
export const userData = "boot <<MACHINE_NAME>>";

/** The request for the VM of a machine of the class `pool`. */
export const requestFor = <Spec>(machine: string, spec: Spec, secret: SecretData): CreateMachineRequest<Spec> => ({
  machine: aMachine(machine),
  machineClass: { name: "pool", spec },
  secret,
  idempotencyToken: `token-of-${machine}`,
  userData: Secret.of(`boot ${machine}`),
});

/** Each machine has one VM with its user data, and there are no other resources. */
export async function expectOneVmEach({ installation, vms, things, thingsPerVm }: VmCloud): Promise<void> {
  const machines = (await installation.machines()).map(({ metadata }) => metadata.name);
  const booted = (await vms()).map(({ machine, userData: boot }) => `${machine}: ${boot}`);
  expect(booted.toSorted()).toEqual(machines.map((machine) => `${machine}: boot ${machine}`).toSorted());
  expect(await things()).toHaveLength(machines.length * thingsPerVm);
}

/** Deletes the deployment, and waits until no resources are left. */
export async function removeAll({ installation, things }: VmCloud): Promise<void> {
  await installation.remove();
  await installation.untilGone();
  await eventually(async () => expect(await things()).toEqual([]), patienceMs);
  await eventually(async () => expect(await installation.nodes()).toEqual([]), patienceMs);
}
