import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { machineClassResource, machineResource } from "@millwright/core/machine-api";
import { isNotFound, type KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass } from "../harness/installation.ts";

/** Only catches hangs, milliseconds. */
const LONG = 40_000;
const ref = { namespace: "default", name: "lone" };
const machineOf = (className: string): KubeObject => ({
  metadata: ref,
  spec: { class: { kind: "MachineClass", name: className } },
});

describe("a Machine whose finalizer is removed while its VM is being created", () => {
  let fleet: ControlledFleet;

  beforeEach(async () => {
    fleet = await startControlledFleet();
  });
  afterEach(() => fleet.close());

  /** What people do to a Machine that stays Terminating. */
  const deleteAtOnce = async (): Promise<void> => {
    await fleet.api.delete(machineResource, ref);
    await fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
    expect(await fleet.api.get(machineResource, ref).then(() => false, isNotFound)).toBe(true);
  };

  describe("by a driver that ignores its signal", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "creation-undone-"));
      const held = { ...machineClass("held"), provider: "faulty", providerSpec: { folder, fault: "hold" } };
      await fleet.api.create(machineClassResource, held);
    });
    afterEach(() => rm(folder, { recursive: true }));

    it("leaves no VM when the driver answers late", async () => {
      const driver = fileURLToPath(new URL("faulty-driver.ts", import.meta.url));
      const controllers = fleet.runAlone(`--provider=${driver}`);
      await fleet.api.create(machineResource, machineOf("held"));
      await eventually(async () =>
        expect(await Promise.resolve(existsSync(join(folder, "attempted-lone")))).toBe(true),
      );
      await deleteAtOnce();
      expect(existsSync(join(folder, "vm-lone"))).toBe(false);
      writeFileSync(join(folder, "released-lone"), "");
      await controllers.waitFor(/Deleted a VM whose machine was deleted during its creation/, LONG);
      expect(existsSync(join(folder, "vm-lone"))).toBe(false);
    });
  });

  describe("and the answer of its cloud is lost", () => {
    const loseAnswer = async (): Promise<void> => {
      fleet.runAlone();
      await fleet.cloud.addFault({ operation: "create", code: "Unavailable", afterAcceptance: true });
      await fleet.api.create(machineResource, machineOf("small"));
      await vi.waitUntil(() => fleet.cloud.vms().length === 1, { timeout: LONG });
      await deleteAtOnce();
    };

    it("leaves no VM", async () => {
      await loseAnswer();
      await eventually(async () => expect(await Promise.resolve(fleet.cloud.vms())).toEqual([]), LONG);
    });

    it("leaves its VM to a new Machine of the same name", async () => {
      await loseAnswer();
      await fleet.api.create(machineResource, machineOf("small"));
      await fleet.untilRunning(1);
      expect(fleet.cloud.vms()).toHaveLength(1);
    });
  });
});
