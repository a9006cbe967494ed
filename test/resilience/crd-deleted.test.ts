import {
  annotationKeys,
  type Machine,
  type MachineKind,
  machineResource,
  machineSetResource,
  machineDeploymentResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { customResourceDefinitionResource, eventResource, nodeResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import {
  recreateCrd,
  crdNameOf,
  deleteCrd,
  exportObjects,
  removeFinalizers,
  recreateObjects,
  untilCrdDeleted,
  vmsOf,
} from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const LONG = 90_000;

/** A CRD is really deleted, and the API server deletes all objects of the kind with it. */
describe("millwright run whose CRDs are deleted", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const start = async (...options: Parameters<typeof startControlledFleet>): Promise<ControlledFleet> => {
    const started = await startControlledFleet(...options);
    // Not for want of a role: objects of a terminating CRD cannot be created.
    started.expectForbidden(/^create .*\/(machines|machinesets)$/);
    return started;
  };
  /** Waits until all machines report that their deletion is paused because of a CRD. */
  const untilPaused = (count: number, kind: MachineKind): Promise<void> =>
    eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
      expect(texts).toHaveLength(count);
      for (const text of texts)
        expect(text).toMatch(new RegExp(`^Deletion paused.*${crdNameOf(kind)} is being deleted`));
    }, LONG);
  const setStatuses = async (): Promise<string> => {
    const { items } = await fleet.api.list(machineSetResource, { namespace });
    return JSON.stringify(items.map(({ status }) => status));
  };
  const expectNoVmLost = (vms: number): void => {
    expect(fleet.callsOf("delete")).toBe(0);
    expect(fleet.callsOf("create")).toBe(vms);
    expect(fleet.cloud.vms()).toHaveLength(vms);
  };
  const requestCount = (): number =>
    fleet.requests().filter(({ verb, resource }) => verb !== "watch" && verb !== "list" && resource !== "leases")
      .length;

  it("keeps every VM when the CRD of machines is deleted, also through kill -9, and adopts the same VMs when all is restored, without a restart", async () => {
    fleet = await start();
    const first = fleet.run();
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    const before = vmsOf(await fleet.machines());
    await deleteCrd(fleet.api, "Machine");
    await untilPaused(3, "Machine");
    await eventually(async () => expect(await setStatuses()).toContain('"CRDsEstablished"'), LONG);
    expect((await fleet.machines()).map(phaseOf)).toEqual(["Running", "Running", "Running"]);

    await first.stop("SIGKILL");
    const second = fleet.run();
    await second.waitFor(/"Leading"/, LONG);
    await second.waitFor(/machines\.machine\.sapcloud\.io.*A CustomResourceDefinition is being deleted/, LONG);
    // The first reconciles of a new process are done when it sends no more requests.
    await untilQuiet(requestCount);
    expectNoVmLost(3);
    expect((await fleet.api.list(nodeResource)).items).toHaveLength(3);

    const saved = await exportObjects(fleet.api, "Machine");
    await removeFinalizers(fleet.api, "Machine");
    await untilCrdDeleted(fleet.api, "Machine");
    await recreateCrd(fleet.api, "Machine");
    // The kind is back without its machines: the set waits for them.
    await eventually(async () => expect(await setStatuses()).toContain("waiting for machines that existed"), LONG);
    expectNoVmLost(3);
    await recreateObjects(fleet.api, "Machine", saved);
    await fleet.untilRunning(3, LONG);
    expect(vmsOf(await fleet.machines())).toEqual(before);
    expectNoVmLost(3);
    await fleet.scale(4);
    await fleet.untilRunning(4, LONG);
    expect(await setStatuses()).not.toContain("CRDsEstablished");
    expect(fleet.callsOf("delete")).toBe(0);
    // The VMs have the UIDs of the previous machines, and are still deleted when they are not needed any more.
    await fleet.scale(0);
    await fleet.untilGone(LONG);
    expect(fleet.callsOf("create")).toBe(4);
    expect(second.child.exitCode).toBeNull();
  });
  it.each(["MachineSet", "MachineDeployment"] as const)(
    "keeps every VM when the CRD of %ss is deleted, and manages machines meanwhile",
    async (kind) => {
      const type = kind === "MachineSet" ? machineSetResource : machineDeploymentResource;
      fleet = await start();
      const first = fleet.run();
      await fleet.deploy(2);
      await fleet.untilRunning(2);
      const before = vmsOf(await fleet.machines());
      await deleteCrd(fleet.api, kind);
      await eventually(async () => {
        const { items } = await fleet.api.list(type, { namespace });
        expect(JSON.stringify(items.map(({ status }) => status))).toContain(`${crdNameOf(kind)} is being deleted`);
      }, LONG);
      await first.stop("SIGKILL");
      const second = fleet.run();
      await second.waitFor(/A CustomResourceDefinition is being deleted/, LONG);
      expectNoVmLost(2);

      // Owner references are removed first: the garbage collector would delete the dependents.
      const belowType = kind === "MachineSet" ? machineResource : machineSetResource;
      const saved = await exportObjects(fleet.api, kind);
      for (const { metadata } of (await fleet.api.list(belowType, { namespace })).items) {
        const ref = { namespace, name: metadata.name ?? "" };
        await fleet.api.patch(belowType, ref, { metadata: { ownerReferences: null } }, { kind: "merge" });
      }
      await removeFinalizers(fleet.api, kind);
      await untilCrdDeleted(fleet.api, kind);
      await recreateCrd(fleet.api, kind);
      await recreateObjects(fleet.api, kind, saved);
      await eventually(async () => {
        const {
          items: [owned],
        } = await fleet.api.list(belowType, { namespace });
        expect(owned?.metadata.ownerReferences).toHaveLength(1);
      }, LONG);
      await fleet.untilRunning(2, LONG);
      expect(vmsOf(await fleet.machines())).toEqual(before);
      expectNoVmLost(2);
      await fleet.scale(1);
      await fleet.untilRunning(1, LONG);
      expect(fleet.callsOf("create")).toBe(2);
    },
  );

  it("completes a deletion that was requested before, and reports once for the others what to do", async () => {
    // Deletion in the cloud is slow, so that the CRD is deleted while a VM is.
    fleet = await start({ deleteDelayMs: 15_000 });
    const controllers = fleet.run();
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    const [terminating] = await fleet.machines();
    const name = terminating?.metadata.name ?? "";
    await fleet.api.delete(machineResource, { namespace, name });
    await eventually(async () => {
      const machine = await fleet.api.get<Machine>(machineResource, { namespace, name });
      expect(machine.status?.lastOperation?.description).toContain("Initiate VM deletion");
    }, LONG);
    await deleteCrd(fleet.api, "Machine");
    await eventually(async () => {
      expect((await fleet.machines()).map(({ metadata }) => metadata.name)).not.toContain(name);
    }, LONG);
    await controllers.waitFor(/A CustomResourceDefinition is being deleted/, LONG);
    await eventually(async () => {
      const held = (await fleet.machines()).filter(({ status }) =>
        status?.lastOperation?.description?.startsWith("Deletion paused"),
      );
      expect(held.length).toBeGreaterThanOrEqual(2);
    }, LONG);
    expect(fleet.cloud.vms().filter(({ state }) => state === "running").length).toBeGreaterThanOrEqual(2);
    await eventually(async () => {
      const { items } = await fleet.api.list(eventResource, { namespace });
      const recorded = items.filter((event) => event["reason"] === "DeletionPaused");
      expect(recorded.length).toBeGreaterThanOrEqual(2);
      for (const event of recorded) expect(event["message"]).toContain(annotationKeys.allowCrdDeletion);
    }, LONG);
    expect(controllers.output().match(/A CustomResourceDefinition is being deleted/g)).toHaveLength(1);
  });

  it("reads CRDs only when another client deletes machines, once for all of them", async () => {
    fleet = await start();
    // The start checks the CRDs.
    await fleet.run().waitFor(/The prerequisites of a cluster are met/, LONG);
    await fleet.deploy(4);
    await fleet.untilRunning(4);
    const allReads = (): number =>
      fleet.requests().filter(({ verb, resource }) => verb === "get" && resource === "customresourcedefinitions")
        .length;
    const atStart = allReads();
    const crdReads = (): number => allReads() - atStart;
    await fleet.scale(3);
    await fleet.untilRunning(3, LONG);
    expect(crdReads()).toBe(0);
    await Promise.all(
      (await fleet.machines()).map(({ metadata: { name } }) => fleet.api.delete(machineResource, { namespace, name })),
    );
    await eventually(async () => expect(fleet.callsOf("delete")).toBeGreaterThanOrEqual(4), LONG);
    await fleet.untilRunning(3, LONG);
    // Two CRDs: that of machines and that of their controller. Reconciles during a read share the next one.
    expect(crdReads()).toBeGreaterThan(0);
    expect(crdReads()).toBeLessThanOrEqual(2 * 3);
  });

  it("deletes all machines when the CRD is annotated for deletion", async () => {
    fleet = await start();
    fleet.run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    await deleteCrd(fleet.api, "Machine");
    await untilPaused(2, "Machine");
    expectNoVmLost(2);
    const ref = { name: crdNameOf("Machine") };
    const annotations = { [annotationKeys.allowCrdDeletion]: "true" };
    await fleet.api.patch(customResourceDefinitionResource, ref, { metadata: { annotations } }, { kind: "merge" });
    await untilCrdDeleted(fleet.api, "Machine");
    expect(fleet.cloud.vms()).toEqual([]);
    expect(fleet.callsOf("create")).toBe(2);
  });
});
