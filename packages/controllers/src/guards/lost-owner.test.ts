import {
  annotationKeys,
  finalizers,
  labelKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import { afterAll, describe, expect, it } from "vitest";
import { judge } from "../model/hold.ts";
import { adoptionAnnotation } from "../ownership/adoption.ts";
import { createLostOwners } from "../ownership/lost-owners.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { withVm } from "../testing/snapshots.ts";
import { lostDeploymentGuard, lostOwnerGuard } from "./lost-owner.ts";

const stop = new AbortController();
afterAll(() => stop.abort());

const former = aMachineSet({ metadata: { uid: "former" } });
const restored = [withVm, ownedBy(former), beingDeleted()];
const approval = annotated({ [annotationKeys.approveDeletions]: "2099-01-01T00:00:00Z" });

/** The guard of a cluster with these owners, and a Machine. */
async function setUp(change: Change<Machine> = {}, sets: readonly Change<MachineSet>[] = [], approves = false) {
  const { api, newContext, run } = createTestCluster();
  const deployment = api.seed(machineDeploymentResource, aMachineDeployment(approves ? approval : {}));
  for (const each of sets) api.seed(machineSetResource, aMachineSet(ownedBy(deployment), each));
  const machine = api.seed(machineResource, aMachine(...restored, change));
  const context = newContext();
  await run(context, stop.signal);
  const guard = lostOwnerGuard(context);
  return {
    api,
    machine,
    judge: async () => {
      const { missing } = judge([guard], machine);
      for (const facts of missing) await facts.read();
      return { reads: missing.length, ...judge([guard], machine) };
    },
  };
}

describe("the guard of Machines whose set does not exist", () => {
  it.each<[string, Change<Machine>]>([
    ["that is Running", inPhase("Running")],
    ["that was just created from a file", {}],
    ["that is Failed", inPhase("Failed")],
  ])("holds the deletion of one %s, and asks", async (_, change) => {
    const { judge: verdict, api } = await setUp(change);
    expect(await verdict()).toMatchObject({
      reads: 1,
      hold: {
        by: "lost-owner",
        holds: "deletion",
        keepsPhase: true,
        approver: { kind: "Machine", name: "machine" },
        event: { reason: "DeletionsHeld" },
        message: expect.stringMatching(
          /^Deletion held: .*MachineSet set, does not exist.*Was Machine machine restored/,
        ),
      },
    });
    expect(await verdict()).toMatchObject({ reads: 0 });
    expect(api.calls.filter(({ verb }) => verb === "get")).toHaveLength(1);
  });

  describe("that has just adopted it in place of one that does not exist", () => {
    const set = aMachineSet({ metadata: { uid: "now" } });
    const existing: Change<MachineSet> = { metadata: { uid: "now" } };
    const deletedAfter = (seconds: number): Change<Machine> => ({
      metadata: {
        ...ownedBy(set).metadata,
        annotations: adoptionAnnotation(aMachine(ownedBy(former)), new Date("2026-01-01T00:00:00Z")),
        deletionTimestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
      },
    });

    it("holds the deletion that the garbage collector may have begun, until it is approved", async () => {
      const { judge: verdict } = await setUp(deletedAfter(2), [existing]);
      const message = expect.stringMatching(/MachineSet set, had just adopted it in place of one that does not exist/);
      const approver = { kind: "MachineDeployment" };
      expect(await verdict()).toMatchObject({ reads: 0, hold: { by: "lost-owner", message, approver } });
      const approved = await setUp(deletedAfter(2), [existing], true);
      expect(await approved.judge()).toEqual({ reads: 0, missing: [] });
    });

    it.each<[string, number, Change<MachineSet>]>([
      ["a later one", 301, existing],
      ["that of a set which is deleted, too", 2, { metadata: { uid: "now", ...beingDeleted().metadata } }],
    ])("does not hold %s", async (_, seconds, ofSet) => {
      const { judge: verdict } = await setUp(deletedAfter(seconds), [ofSet]);
      expect(await verdict()).toEqual({ reads: 0, missing: [] });
    });
  });

  describe("that the garbage collector has taken off", () => {
    const hash = { labels: { [labelKeys.machineTemplateHash]: "1" } };
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const { ownerReferences } = ownedBy(aMachineDeployment({ metadata: { uid: "former-deployment" } })).metadata;
    const lastOperation = { description: "Deletion held: its owner, MachineSet set, does not exist", type: "Delete" };
    const judged = ({ isHeld = false, ...metadata }: { isHeld?: boolean }, sets: readonly object[], approves = false) =>
      setUp(
        { metadata: { ownerReferences: null, ...metadata }, ...(isHeld ? { status: { lastOperation } } : {}) },
        sets.map((of) => ({ metadata: of })),
        approves,
      );

    it.each<[string, object, readonly object[], string]>([
      ["where a set selects it", {}, [{ name: "next" }], "MachineSet next"],
      [
        "that is held already, where its set is not restored yet",
        { ...hash, isHeld: true },
        [],
        "MachineDeployment pool",
      ],
      ["where its set is deleted as lost, too", {}, [{ deletionTimestamp, ownerReferences }], "MachineSet set"],
      ["and off its set", hash, [{ deletionTimestamp, ownerReferences: null, ...hash }], "MachineSet set"],
    ])("holds the deletion %s, and asks", async (_, machine, sets, selecting) => {
      const { judge: verdict } = await judged(machine, sets);
      const message = `Deletion held: it has no owner, and ${selecting} selects it. Was Machine machine restored`;
      expect((await verdict()).hold).toMatchObject({ by: "lost-owner", message: expect.stringContaining(message) });
    });

    it.each<[string, object, readonly object[], boolean]>([
      ["whose deployment approves", {}, [{}], true],
      ["whose set is deleted with its machines", {}, [{ deletionTimestamp }], false],
      ["that is held already, and that no deployment had made", { isHeld: true }, [], false],
      ["that no set selects, as one that a person deletes", hash, [], false],
    ])("lets one pass %s", async (_, machine, sets, approves) => {
      const { judge: verdict } = await judged(machine, sets, approves);
      expect((await verdict()).hold).toBeUndefined();
    });
  });

  it.each<[string, Change<Machine>]>([
    ["is not terminating", { metadata: { deletionTimestamp: null } }],
    ["has no owner", { metadata: { ownerReferences: null } }],
    ["has another kind of owner", ownedBy(aMachineDeployment(named("gone")))],
    ["has no VM", { spec: { providerID: null } }],
    ["has no finalizer", { metadata: { finalizers: ["other"] } }],
    ["is forced", labeled({ [labelKeys.forceDeletion]: "true" })],
    ["approves", approval],
    [
      "has begun",
      {
        status: {
          currentStatus: { phase: "Terminating" },
          lastOperation: { type: "Delete", description: "Drain successful. Initiate VM deletion" },
        },
      },
    ],
  ])("holds none that %s", async (_, change) => {
    const { judge: verdict } = await setUp(change);
    expect((await verdict()).hold).toBeUndefined();
  });

  it("holds none whose set exists, and is not in the cache yet", async () => {
    const { judge: verdict, api } = await setUp();
    api.seed(machineSetResource, former);
    expect(await verdict()).toEqual({ reads: 1, missing: [] });
  });

  it.each<[string, Change<MachineSet>, string]>([
    ["of the same name", {}, "pool"],
    ["that selects it", named("new"), "pool"],
    ["without a deployment", { metadata: { ownerReferences: null } }, "set"],
  ])("names who approves: the owner of a set %s", async (_, set, approver) => {
    const { judge: verdict } = await setUp({}, [set]);
    expect((await verdict()).hold?.approver?.name).toBe(approver);
  });

  it("lets one pass whose next deployment approves", async () => {
    const { judge: verdict } = await setUp({}, [{}], true);
    expect((await verdict()).hold).toBeUndefined();
  });
});

it("reads the deployment of a set once, where the cache lacks it", async () => {
  const { api, newContext, run } = createTestCluster();
  const context = newContext();
  await run(context, stop.signal);
  const owners = createLostOwners(context, machineDeploymentResource, context.caches.deployments.store);
  const guard = lostDeploymentGuard(owners);
  const set = aMachineSet(ownedBy(aMachineDeployment()), { metadata: { finalizers: [finalizers.machine] } });
  const read = async () => {
    const verdict = guard.of(set);
    if (verdict === "proceed" || !("read" in verdict)) throw new Error("nothing is missing");
    return verdict.read();
  };
  expect(await read()).toBe(true);
  expect(guard.of(set)).toBe("proceed");
  const owner = controllerRefOf(set);
  if (owner === undefined) throw new Error("the set has no owner");
  expect([await owners.confirm(owner), owners.isConfirmed(owner)]).toEqual([true, true]);
  expect(api.calls.filter(({ verb }) => verb === "get")).toHaveLength(1);
  api.seed(machineDeploymentResource, aMachineDeployment());
  context.caches.deployments.store.applyWrite(aMachineDeployment({ metadata: { resourceVersion: "99" } }));
  expect([owners.isMissing(owner), owners.isConfirmed(owner), await owners.confirm(owner)]).toEqual([
    false,
    false,
    false,
  ]);
});
