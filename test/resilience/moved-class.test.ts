import { systemClock } from "@millwright/base";
import { annotationKeys, labelKeys, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { type KubeObject, secretResource } from "@millwright/kube";
import { createCloudServer, createSimulatedCloud, type SimulatedCloud } from "@millwright/provider-mock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass } from "../harness/installation.ts";

const namespace = "default";
/** A VM that was requested just now may be invisible for two minutes, and a list a minute at most is what the flags allow. Milliseconds; only catches hangs. */
const LONG = 300_000;
const flags = ["--machine-creation-timeout=45s", "--machine-safety-orphan-vms-period=70s"] as const;
const held = /^VM mock:\S+ may still run where it was requested, with Secret cloud: MachineClass small has other now\./;

describe(
  "millwright run whose class is pointed to another account, in which its VM is unknown",
  { timeout: 4 * LONG },
  () => {
    let fleet: ControlledFleet;
    let other: SimulatedCloud;
    const ends: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0).toReversed()) await end();
    });

    const usesSecret = (name: string) =>
      fleet.api.patch(machineClassResource, { namespace, name: "small" }, { secretRef: { name } }, { kind: "merge" });
    const descriptions = async () =>
      (await fleet.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
    const untilHeld = () =>
      eventually(async () => expect(await descriptions()).toContainEqual(expect.stringMatching(held)), LONG);
    /** The VMs that are taken for those without Machine in the first account. */
    const quarantined = async (): Promise<string> => {
      const { metadata } = await fleet.api.get(machineClassResource, { namespace, name: "beside" });
      return metadata.annotations?.[annotationKeys.orphanVms] ?? "";
    };

    /** A Machine that runs. Then the process is killed, and the class is pointed to another account; a class beside it lists the VMs of the first one. */
    beforeEach(async () => {
      fleet = await startControlledFleet();
      ends.push(() => fleet.close());
      const { api } = fleet;
      other = createSimulatedCloud({ clock: systemClock, bootDelayMs: 10, deleteDelayMs: 10 });
      const otherServer = createCloudServer(other);
      ends.push(() => otherServer.close());
      const { url } = await otherServer.listen();
      const { data } = await api.get<KubeObject & { readonly data: object }>(secretResource, {
        namespace,
        name: "cloud",
      });
      const endpoint = Buffer.from(url).toString("base64");
      await api.create(secretResource, { metadata: { name: "other", namespace }, data: { ...data, endpoint } });
      await api.create(machineClassResource, machineClass("beside"));
      const controllers = fleet.run(...flags);
      await fleet.deploy(1);
      await fleet.untilRunning(1);
      await controllers.stop("SIGKILL");
      await usesSecret("other");
    });

    it("holds the deletion of its Machine, names both, and deletes the VM once the class is pointed back", async () => {
      await fleet.scale(0);
      const lists = fleet.callsOf("list");
      const controllers = fleet.run(...flags);
      await untilHeld();
      await controllers.stop("SIGKILL");
      fleet.run(...flags);
      await eventually(async () => expect(fleet.callsOf("list")).toBeGreaterThan(lists + 1), LONG);
      await untilHeld();
      expect([fleet.cloud.vms().length, await quarantined()]).toEqual([1, ""]);

      await usesSecret("cloud");
      await fleet.untilGone(LONG);
    });

    it("keeps the VM of a Machine that is deleted by force, until its label ends the deletion: the VM has no Machine then", async () => {
      const [machine] = await fleet.machines();
      const ref = { namespace, name: machine?.metadata.name ?? "" };
      fleet.run(...flags);
      await fleet.api.delete(machineResource, ref, { gracePeriodSeconds: 0 });
      await untilHeld();
      expect(fleet.cloud.vms()).toHaveLength(1);

      const label = { metadata: { labels: { [labelKeys.forceDeletion]: "True" } } };
      await fleet.api.patch(machineResource, ref, label, { kind: "merge" });
      await eventually(async () => {
        expect((await fleet.machines()).map(({ metadata }) => metadata.name)).not.toContain(ref.name);
      }, LONG);
      const [vm] = fleet.cloud.vms();
      await eventually(async () => expect(await quarantined()).toContain(vm?.id), LONG);
      expect([fleet.cloud.vms().length, other.vms().length]).toEqual([1, 1]);
    });
  },
);
