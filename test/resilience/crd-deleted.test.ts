import {
  annotationKeys,
  type Machine,
  type MachineKind,
  machineResource,
  machineSetResource,
  machineDeploymentResource,
  phaseOf,
} from "@millwright/core";
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

/** A definition is really deleted, and the API server with it all objects of the kind. */
describe("millwright run whose definitions are deleted", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  /** Waits until all machines say that they are held because of a definition. */
  const untilHeld = (count: number, kind: MachineKind): Promise<void> =>
    eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
      expect(texts).toHaveLength(count);
      for (const text of texts)
        expect(text).toMatch(new RegExp(`^Deletion paused.*${crdNameOf(kind)} is being deleted`));
    }, LONG);
  const stands = async (): Promise<string> => {
    const { items } = await fleet.api.list(machineSetResource, { namespace });
    return JSON.stringify(items.map(({ status }) => status));
  };
  const nothingLost = (vms: number): void => {
    expect(fleet.callsOf("delete")).toBe(0);
    expect(fleet.callsOf("create")).toBe(vms);
    expect(fleet.cloud.vms()).toHaveLength(vms);
  };
  const asked = (): number =>
    fleet.requests().filter(({ verb, resource }) => verb !== "watch" && verb !== "list" && resource !== "leases")
      .length;

  it("keeps every VM when that of machines goes, through kill -9, and takes the same VMs over when all is back, without a restart", async () => {
    fleet = await startControlledFleet();
    const first = fleet.run();
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    const before = vmsOf(await fleet.machines());
    await deleteCrd(fleet.api, "Machine");
    await untilHeld(3, "Machine");
    await eventually(async () => expect(await stands()).toContain('"CRDsEstablished"'), LONG);
    expect((await fleet.machines()).map(phaseOf)).toEqual(["Running", "Running", "Running"]);

    await first.stop("SIGKILL");
    const second = fleet.run();
    await second.waitFor(/"Leading"/, LONG);
    await second.waitFor(/machines\.machine\.sapcloud\.io.*A CustomResourceDefinition is being deleted/, LONG);
    // The first passes of a fresh process are over when it has nothing more to write.
    await untilQuiet(asked);
    nothingLost(3);
    expect((await fleet.api.list(nodeResource)).items).toHaveLength(3);

    const saved = await exportObjects(fleet.api, "Machine");
    await removeFinalizers(fleet.api, "Machine");
    await untilCrdDeleted(fleet.api, "Machine");
    await recreateCrd(fleet.api, "Machine");
    // The set sees its machines gone and the kind back: it waits for them.
    await eventually(async () => expect(await stands()).toContain("are awaited"), LONG);
    nothingLost(3);
    await recreateObjects(fleet.api, "Machine", saved);
    await fleet.untilRunning(3, LONG);
    expect(vmsOf(await fleet.machines())).toEqual(before);
    nothingLost(3);
    await fleet.scale(4);
    await fleet.untilRunning(4, LONG);
    expect(await stands()).not.toContain("CRDsEstablished");
    expect(fleet.callsOf("delete")).toBe(0);
    // The VMs carry the UIDs of the machines that were, and go all the same when they are not wanted any more.
    await fleet.scale(0);
    await fleet.untilGone(LONG);
    expect(fleet.callsOf("create")).toBe(4);
    expect(second.child.exitCode).toBeNull();
  });
  it.each(["MachineSet", "MachineDeployment"] as const)(
    "keeps every VM when that of %ss goes, and looks after machines meanwhile",
    async (kind) => {
      const type = kind === "MachineSet" ? machineSetResource : machineDeploymentResource;
      fleet = await startControlledFleet();
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
      nothingLost(2);

      // What owns loses its name first: what it owns would else be collected with it.
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
      nothingLost(2);
      await fleet.scale(1);
      await fleet.untilRunning(1, LONG);
      expect(fleet.callsOf("create")).toBe(2);
    },
  );

  it("finishes a deletion that was asked for before, and says of the others once what is to be done", async () => {
    // The cloud takes its time, so that the definition goes while a VM does.
    fleet = await startControlledFleet({ deleteDelayMs: 15_000 });
    const controllers = fleet.run();
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    const [going] = await fleet.machines();
    const name = going?.metadata.name ?? "";
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
      const said = items.filter((event) => event["reason"] === "DeletionPaused");
      expect(said.length).toBeGreaterThanOrEqual(2);
      for (const event of said) expect(event["message"]).toContain(annotationKeys.allowCrdDeletion);
    }, LONG);
    expect(controllers.output().match(/A CustomResourceDefinition is being deleted/g)).toHaveLength(1);
  });

  it("asks about definitions only when somebody else deletes, once for all", async () => {
    fleet = await startControlledFleet();
    fleet.run();
    await fleet.deploy(4);
    await fleet.untilRunning(4);
    const questions = (): number =>
      fleet.requests().filter(({ verb, resource }) => verb === "get" && resource === "customresourcedefinitions")
        .length;
    await fleet.scale(3);
    await fleet.untilRunning(3, LONG);
    expect(questions()).toBe(0);
    await Promise.all(
      (await fleet.machines()).map(({ metadata: { name } }) => fleet.api.delete(machineResource, { namespace, name })),
    );
    await eventually(async () => expect(fleet.callsOf("delete")).toBeGreaterThanOrEqual(4), LONG);
    await fleet.untilRunning(3, LONG);
    // Two kinds: that of machines and that of what controls them. Who comes while a question is under way shares the next.
    expect(questions()).toBeGreaterThan(0);
    expect(questions()).toBeLessThanOrEqual(2 * 3);
  });

  it("lets everything go when the definition says that it is meant", async () => {
    fleet = await startControlledFleet();
    fleet.run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    await deleteCrd(fleet.api, "Machine");
    await untilHeld(2, "Machine");
    nothingLost(2);
    const ref = { name: crdNameOf("Machine") };
    const annotations = { [annotationKeys.allowCrdDeletion]: "true" };
    await fleet.api.patch(customResourceDefinitionResource, ref, { metadata: { annotations } }, { kind: "merge" });
    await untilCrdDeleted(fleet.api, "Machine");
    expect(fleet.cloud.vms()).toEqual([]);
    expect(fleet.callsOf("create")).toBe(2);
  });
});
