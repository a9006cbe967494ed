import type { FaultPlan } from "@millwright/emulators/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { CloudInstallation } from "./cloud-installation.ts";

/** A VM as a cloud shows it. */
export interface LoopVm {
  /** Name of the machine that it was made for. */
  readonly machine: string;
  readonly image: string;
  /** What it runs at its first boot. */
  readonly userData: string;
}

/** How a cloud takes its time. */
export type Pace = "quick" | "slow";

/** An emulated cloud and an installation on it, as the machine loop sees them. */
export interface LoopCloud {
  readonly installation: CloudInstallation;
  readonly faults: FaultPlan;
  /** The operation that makes a VM, and the codes by which the cloud says that it has failed or is asked too often. */
  readonly words: { readonly create: string; readonly serverError: string; readonly throttled: string };
  /** Everything that the cloud holds for a VM, itself included. */
  readonly thingsPerVm: number;
  /** A class of the same kind with another image. */
  readonly newer: { readonly providerSpec: Readonly<Record<string, unknown>>; readonly image: string };
  vms(): readonly LoopVm[];
  /** How many VMs were ever made. */
  launches(): number;
  /** All that is left of launches: VMs, disks, interfaces. */
  things(): readonly unknown[];
  /** Ends the credentials that the installation has, and gives the keys of others. */
  changeCredentials(): Readonly<Record<string, string>>;
  /** Takes the VM of a machine back, as the cloud does with spot VMs. */
  reclaim(machine: string): void;
  /** Stops everything. What the emulator itself threw fails it. */
  close(): Promise<void>;
}

/** Starts an emulated cloud and an installation with a class `pool`, whose user data is {@link userData}. */
export type StartLoopCloud = (pace: Pace, market?: "spot") => Promise<LoopCloud>;

/** User data of the class secret. */
export const userData = "boot <<MACHINE_NAME>>";

const bootOf = (machine: string): string => `boot ${machine}`;

/** The machine loop, end to end with `millwright run` and the driver of a cloud: the same for each of them. */
export function describeMachineLoop(name: string, startCloud: StartLoopCloud): void {
  // Twenty machines and more beside whatever else the computer does: the limit is there for what hangs.
  describe(`millwright run on ${name}`, { timeout: 300_000 }, () => {
    const start = async (...how: Parameters<StartLoopCloud>): Promise<LoopCloud> => {
      const cloud = await startCloud(...how);
      onTestFinished(() => cloud.close());
      return cloud;
    };

    /** Each machine has one VM, booted for it, and there is nothing else. */
    const expectOneVmEach = async ({ installation, vms, things, thingsPerVm }: LoopCloud): Promise<void> => {
      const machines = (await installation.machines()).map(({ metadata }) => metadata.name);
      const booted = vms().map(({ machine, userData: boot }) => `${machine}: ${boot}`);
      expect(booted.toSorted()).toEqual(machines.map((machine) => `${machine}: ${bootOf(machine)}`).toSorted());
      expect(things()).toHaveLength(machines.length * thingsPerVm);
    };

    const removeAll = async ({ installation, things }: LoopCloud): Promise<void> => {
      await installation.remove();
      await installation.untilGone();
      await eventually(async () => expect(things()).toEqual([]), 60_000);
    };

    it("makes 20 machines, rolls them, scales down, deletes them, and leaves nothing behind", async () => {
      const cloud = await start("quick");
      const { installation, newer, vms } = cloud;
      installation.run();
      await installation.deploy(20);
      await installation.untilRunning(20);
      await expectOneVmEach(cloud);
      expect(cloud.launches()).toBe(20);

      await installation.declareClass("newer", newer.providerSpec);
      await installation.change({
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
        minReadySeconds: 0,
        template: { spec: { class: { kind: "MachineClass", name: "newer" } } },
      });
      await eventually(async () => {
        expect(vms().map(({ image }) => image)).toEqual(Array.from({ length: 20 }, () => newer.image));
      }, 120_000);
      await installation.untilRunning(20);

      await installation.change({ replicas: 5 });
      await installation.untilRunning(5);
      await eventually(async () => expectOneVmEach(cloud), 60_000);
      await removeAll(cloud);
    });

    it("makes one VM for each machine although any call may fail, before or after it had its effect", async () => {
      const cloud = await start("quick");
      const { installation, faults, words } = cloud;
      for (const afterAcceptance of [false, true]) {
        for (const end of [
          { kind: "reset" },
          { kind: "refuse", refusal: { code: words.serverError } },
          { kind: "refuse", refusal: { code: words.throttled } },
          { kind: "reply", reply: { status: 502, body: "<html>" } },
        ] as const) {
          faults.add({ operation: "*", probability: 0.04, times: 15, end, afterAcceptance });
        }
      }
      installation.run();
      await installation.deploy(10);
      await installation.untilRunning(10, 180_000);
      await eventually(async () => expectOneVmEach(cloud), 60_000);
      expect(cloud.launches()).toBe(10);
      expect(faults.strikes).toBeGreaterThan(5);
      faults.clear();
      await removeAll(cloud);
    });

    it("makes one VM for each machine when it is killed while it makes them, again and again", async () => {
      const cloud = await start("slow");
      const { installation } = cloud;
      let current = installation.run();
      await installation.deploy(10);
      for (const launched of [1, 4, 8]) {
        await eventually(async () => expect(cloud.launches()).toBeGreaterThanOrEqual(launched), 60_000);
        await current.stop("SIGKILL");
        current = installation.run();
      }
      await installation.untilRunning(10);
      await expectOneVmEach(cloud);
      expect(cloud.launches()).toBe(10);
    });

    it("goes on with new credentials when the old ones end while it makes a hundred machines", async () => {
      const cloud = await start("quick");
      const { installation, faults, words } = cloud;
      // So that some are being made when the credentials end, however busy the computer is.
      faults.add({ operation: words.create, skip: 4, times: 20, delayMs: 3_000 });
      installation.run();
      await installation.deploy(100);
      await eventually(async () => expect(cloud.launches()).toBeGreaterThan(3), 60_000);
      const secret = cloud.changeCredentials();
      faults.clear();
      await eventually(async () => {
        const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
        expect(codes).toContain("Unauthenticated");
      }, 60_000);
      await installation.setSecret(secret);
      await installation.untilRunning(100, 180_000);
      await expectOneVmEach(cloud);
      expect(cloud.launches()).toBe(100);
    });

    it("replaces a machine whose spot VM was reclaimed, and removes what is left of it", async () => {
      const cloud = await start("quick", "spot");
      const { installation, vms } = cloud;
      await installation.deploy(3);
      await installation.change({ template: { spec: { healthTimeout: "3s" } } });
      installation.run();
      await installation.untilRunning(3);
      const lost = vms()[0]?.machine ?? "";
      cloud.reclaim(lost);
      await eventually(async () => {
        const names = (await installation.machines()).map(({ metadata }) => metadata.name);
        expect(names).not.toContain(lost);
      }, 60_000);
      await installation.untilRunning(3);
      await eventually(async () => expectOneVmEach(cloud), 60_000);
      expect(cloud.launches()).toBe(4);
    });
  });
}
