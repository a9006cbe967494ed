import type { FaultPlan } from "@millwright/emulators/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { patienceMs } from "./cloud-installation.ts";
import { type CloudOptions, expectOneVmEach, removeAll, type VmCloud } from "./vm-cloud.ts";

/** A cloud with fault injection. */
export interface LoopCloud extends VmCloud {
  readonly faults: FaultPlan;
  /** The operation that creates a VM, and the cloud's codes for failures and throttling. */
  readonly words: { readonly create: string; readonly serverError: string; readonly throttled: string };
  /** A Node of another cloud without a machine, which the cloud controller manager here ignores. */
  readonly foreignNode: { readonly name: string; readonly providerId: string };
  /** Revokes the credentials of the installation; returns the class secret's keys for new ones. */
  changeCredentials(): Readonly<Record<string, string>>;
  /** Reclaims the VM of a machine, as the cloud does with spot VMs. */
  reclaim(machine: string): void;
}

/** Starts an emulated cloud and an installation on it. */
export type StartLoopCloud = (options?: CloudOptions) => Promise<LoopCloud>;

/** The machine loop on a cloud that fails, end to end with `millwright run` and the driver of the cloud: shared by all clouds. */
export function describeMachineLoop(name: string, startCloud: StartLoopCloud): void {
  // The timeout only catches hangs: twenty machines are slow on a busy computer.
  describe(`millwright run on ${name}`, { timeout: 900_000 }, () => {
    const start = async (...how: Parameters<StartLoopCloud>): Promise<LoopCloud> => {
      const cloud = await startCloud(...how);
      onTestFinished(() => cloud.close());
      return cloud;
    };

    it("creates one VM per machine although any call may fail before or after its effect", async () => {
      const cloud = await start();
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
      await installation.untilRunning(10, patienceMs);
      await eventually(async () => expectOneVmEach(cloud), patienceMs);
      expect(await cloud.launches()).toBe(10);
      expect(faults.strikes).toBeGreaterThan(5);
      faults.clear();
      await removeAll(cloud);
    });

    it("continues with new credentials when the old ones are revoked during a hundred creations", async () => {
      const cloud = await start();
      const { installation, faults, words } = cloud;
      // So that some creations are in flight when the credentials are revoked, however busy the computer is.
      faults.add({ operation: words.create, skip: 4, times: 20, delayMs: 3_000 });
      installation.run();
      await installation.deploy(100);
      await eventually(async () => expect(await cloud.launches()).toBeGreaterThan(3), patienceMs);
      const secret = cloud.changeCredentials();
      faults.clear();
      await eventually(async () => {
        const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
        expect(codes).toContain("Unauthenticated");
      }, patienceMs);
      await installation.setSecret(secret);
      await installation.untilRunning(100, patienceMs);
      await expectOneVmEach(cloud);
      expect(await cloud.launches()).toBe(100);
    });

    it("replaces a machine whose spot VM was reclaimed, and deletes its leftover resources", async () => {
      const cloud = await start({ market: "spot" });
      const { installation, vms } = cloud;
      await installation.deploy(3);
      await installation.change({ template: { spec: { healthTimeout: "3s" } } });
      installation.run();
      await installation.untilRunning(3);
      const lost = (await vms())[0]?.machine ?? "";
      cloud.reclaim(lost);
      await eventually(async () => {
        const names = (await installation.machines()).map(({ metadata }) => metadata.name);
        expect(names).not.toContain(lost);
      }, patienceMs);
      await installation.untilRunning(3);
      await eventually(async () => expectOneVmEach(cloud), patienceMs);
      expect(await cloud.launches()).toBe(4);
    });
  });
}
