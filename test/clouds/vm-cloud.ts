import { type CreateMachineRequest, Secret, type SecretData } from "@millwright/core";
import { aMachine } from "@millwright/core/testing";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type CloudInstallation, type NodeOptions, patienceMs } from "./cloud-installation.ts";

/** A VM as a cloud shows it. */
export interface CloudVm {
  readonly id: string;
  /** Name of the machine that it was made for. */
  readonly machine: string;
  readonly image: string;
  /** What it runs at its first boot. */
  readonly userData: string;
}

/** What a driver returned of a VM that it made. */
export interface MadeVm {
  readonly providerId: string;
  readonly nodeName: string;
}

/** A cloud behind an emulator, and an installation on it with a class `pool`, whose user data is {@link userData}. */
export interface VmCloud {
  readonly installation: CloudInstallation;
  /** Everything that the cloud holds for a VM, itself included. */
  readonly thingsPerVm: number;
  /** A class of the same kind with another image. */
  readonly newer: { readonly providerSpec: Readonly<Record<string, unknown>>; readonly image: string };
  vms(): readonly CloudVm[] | Promise<readonly CloudVm[]>;
  /** How many VMs were ever made. */
  launches(): number | Promise<number>;
  /** All that is left of launches: VMs, disks, interfaces. */
  things(): readonly unknown[] | Promise<readonly unknown[]>;
  /** Makes the VM of a machine of the class `pool` with nothing on it by which a driver of ours would know it: as MCM's driver does. */
  makeAsMcm(machine: string): Promise<MadeVm>;
  /** Stops everything. What the emulator itself threw fails it. */
  close(): Promise<void>;
}

/** How a cloud of a test differs from the ordinary. */
export interface CloudOptions {
  /** How it takes its time. Default `quick`. */
  readonly pace?: "quick" | "slow";
  /** Default: VMs that their cloud does not take back. */
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

/** Each machine has one VM, booted for it, and there is nothing else. */
export async function expectOneVmEach({ installation, vms, things, thingsPerVm }: VmCloud): Promise<void> {
  const machines = (await installation.machines()).map(({ metadata }) => metadata.name);
  const booted = (await vms()).map(({ machine, userData: boot }) => `${machine}: ${boot}`);
  expect(booted.toSorted()).toEqual(machines.map((machine) => `${machine}: boot ${machine}`).toSorted());
  expect(await things()).toHaveLength(machines.length * thingsPerVm);
}

/** Removes the deployment, and waits until nothing is left of it. */
export async function removeAll({ installation, things }: VmCloud): Promise<void> {
  await installation.remove();
  await installation.untilGone();
  await eventually(async () => expect(await things()).toEqual([]), patienceMs);
  await eventually(async () => expect(await installation.nodes()).toEqual([]), patienceMs);
}
