import { seededRandom } from "@millwright/base";
import {
  annotationKeys,
  deletionsHeldConditionType,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock, type VirtualClock } from "@millwright/core/testing";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlCaches, createControlCaches } from "../cluster/caches.ts";
import type { DeletionBudget } from "../model/deletion-budget.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
  refOf,
  testNamespace as namespace,
} from "../testing/builders.ts";
import { withVm } from "../testing/snapshots.ts";
import { createDeletionBudget } from "./deletion-budget.ts";

const deployment = aMachineDeployment();
const set = aMachineSet(ownedBy(deployment));

describe("the deletion budget of a namespace", () => {
  let clock: VirtualClock;
  let api: FakeApi;
  let stop: AbortController;
  let caches: ControlCaches;
  let budget: DeletionBudget;

  beforeEach(async () => {
    clock = createVirtualClock();
    api = createFakeApi({ clock });
    stop = new AbortController();
    caches = createControlCaches({ api, clock, random: seededRandom(1), namespace });
    budget = createDeletionBudget({ caches, namespace, clock, maxDeletionShare: undefined });
    for (const cache of [caches.machines, caches.sets, caches.deployments]) void cache.run(stop.signal);
    await settle();
  });
  afterEach(() => stop.abort());

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Owners and machines that serve. */
  const seed = async (count: number, owner: MachineSet | undefined = set): Promise<void> => {
    api.seed(machineDeploymentResource, deployment);
    if (owner !== undefined) api.seed(machineSetResource, owner);
    for (let at = 0; at < count; at++) {
      const changes: readonly Change<Machine>[] = owner === undefined ? [] : [ownedBy(owner)];
      const vm = { spec: { providerID: `mock:///${at}` } };
      api.seed(machineResource, aMachine(named(`m${at}`), vm, inPhase("Running"), ...changes));
    }
    await settle();
  };
  const machine = (at: number): Machine => {
    const found = caches.machines.store.getByRef(refOf(`m${at}`));
    if (found === undefined) throw new Error(`there is no machine m${at}`);
    return found;
  };
  const remove = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at++) await api.delete(machineResource, refOf(`m${at}`));
    await settle();
  };
  /** Begins what may begin of these; returns how many. */
  const begin = (from: number, to: number): number => {
    let begun = 0;
    for (let at = from; at < to; at++) {
      const verdict = budget.ofMachine(machine(at));
      if (verdict?.verdict !== "proceed") continue;
      budget.enter(machine(at), verdict.cause, verdict.isApproved);
      begun++;
    }
    return begun;
  };
  const annotate = async (
    type: typeof machineSetResource | typeof machineDeploymentResource | typeof machineResource,
    name: string,
    value: string,
  ): Promise<void> => {
    const patch = { metadata: { annotations: { [annotationKeys.approveDeletions]: value } } };
    await api.patch(type, refOf(name), patch, { kind: "merge" });
    await settle();
  };
  const inAnHour = (): string => new Date(clock.now().getTime() + 3_600_000).toISOString();

  it("waits for nothing where there are ten machines or fewer", async () => {
    await seed(10);
    await remove(0, 10);
    expect(begin(0, 10)).toBe(10);
    expect(budget.ofMachine(machine(0))).toBeUndefined();
  });

  it("shows what it leaves to each deployment, set, class and the namespace", async () => {
    await seed(20);
    const alone = aMachineSet(named("alone"), { metadata: { uid: "alone", ownerReferences: [] } });
    api.seed(machineSetResource, alone);
    for (let at = 0; at < 30; at++)
      api.seed(
        machineResource,
        aMachine(named(`a${at}`), { spec: { providerID: `mock:///a${at}` } }, inPhase("Running"), ownedBy(alone)),
      );
    await settle();
    const { name } = deployment.metadata;
    const className = machine(0).spec.class?.name;
    const roomsOf = (rule: string) =>
      budget
        .rooms()
        .filter((room) => room.rule === rule)
        .map(({ scope, limit, remaining }) => [scope.kind, scope.name, limit, remaining]);
    expect(roomsOf("share")).toEqual([
      ["Namespace", namespace, 25, 25],
      ["MachineDeployment", name, 10, 10],
      ["MachineSet", "alone", 15, 15],
    ]);
    expect(roomsOf("rate")).toEqual([
      ["Namespace", namespace, 100, 100],
      ["MachineClass", className, 100, 100],
    ]);
    // What is requested is not deleted yet; what has begun is.
    await remove(0, 4);
    await clock.advance(5_000);
    expect(roomsOf("share")[1]).toEqual(["MachineDeployment", name, 10, 10]);
    expect(begin(0, 4)).toBe(4);
    expect(roomsOf("share").map(([, , , remaining]) => remaining)).toEqual([21, 6, 15]);
    expect(roomsOf("rate").map(([, , , remaining]) => remaining)).toEqual([96, 96]);
    // An approved loss is none of the budget's.
    await annotate(machineDeploymentResource, name, inAnHour());
    await remove(4, 20);
    expect(begin(4, 20)).toBe(16);
    expect(roomsOf("share").map(([, , , remaining]) => remaining)).toEqual([13, 6, 15]);
    await clock.advance(3_600_000);
    expect(roomsOf("rate").map(([, , , remaining]) => remaining)).toEqual([100, 100]);
  });

  it("leaves only rates where no share limits deletions, and none of a class without machines", async () => {
    budget = createDeletionBudget({ caches, namespace, clock, maxDeletionShare: 0 });
    await seed(1);
    expect(budget.rooms().map(({ rule, scope: { kind } }) => `${rule} of ${kind}`)).toEqual([
      "rate of Namespace",
      "rate of MachineClass",
    ]);
    await api.patch(machineResource, refOf("m0"), { spec: { class: { name: "b" } } }, { kind: "merge" });
    await settle();
    expect(budget.rooms().map(({ scope: { name } }) => name)).toEqual([namespace, "b"]);
  });

  it("judges what is held again by a share that changes", async () => {
    await seed(20);
    await remove(0, 12);
    await clock.advance(5_000);
    expect(budget.ofMachine(machine(0))?.verdict).toBe("held");
    budget.setShare(0.6);
    expect(budget.ofMachine(machine(0))?.verdict).toBe("proceed");
    budget.setShare(0.5);
    expect(begin(0, 12)).toBe(0);
    budget.setShare(0);
    expect(budget.rooms().some(({ rule }) => rule === "share")).toBe(false);
    expect(begin(0, 12)).toBe(12);
  });

  it("waits until a request is complete, and holds all of it", async () => {
    await seed(20);
    await remove(0, 8);
    expect(budget.ofMachine(machine(0))).toEqual({ verdict: "wait", forMs: 1_000 });
    await clock.advance(900);
    await remove(8, 20);
    expect(budget.ofMachine(machine(0))).toEqual({ verdict: "wait", forMs: 5_000 });
    await clock.advance(5_000);
    expect(budget.ofMachine(machine(0))).toEqual({
      verdict: "held",
      approver: { kind: "MachineDeployment", name: deployment.metadata.name },
      held: {
        why: "share",
        cause: "machine",
        count: 20,
        scope: { kind: "MachineDeployment", name: deployment.metadata.name },
        limit: 10,
        total: 20,
        loss: 0,
      },
    });
    expect(begin(0, 20)).toBe(0);
    expect(budget.heldByCause()).toEqual(new Map([["machine", 20]]));
  });

  it("judges a request that never ends after a minute", async () => {
    await seed(100);
    await remove(0, 11);
    const verdicts: (string | undefined)[] = [];
    for (let at = 11; at <= 26; at++) {
      verdicts.push(budget.ofMachine(machine(0))?.verdict);
      await clock.advance(4_000);
      await remove(at, at + 1);
    }
    expect(verdicts).toEqual([...Array.from({ length: 15 }, () => "wait"), "proceed"]);
  });

  it("begins all of a request that it allows, and no further one", async () => {
    await seed(40);
    await remove(0, 20);
    await clock.advance(5_000);
    expect(begin(0, 20)).toBe(20);
    expect(budget.begunByCause()).toEqual(new Map([["machine", 20]]));
    await remove(20, 25);
    await clock.advance(1_000);
    expect(begin(20, 25)).toBe(0);
    await clock.advance(3_600_000);
    expect(begin(20, 25)).toBe(5);
  });

  it("allows one Machine that a person deletes, each minute, whatever was deleted before", async () => {
    await seed(24);
    await remove(0, 12);
    await clock.advance(5_000);
    expect(begin(0, 12)).toBe(12);
    await clock.advance(60_000);
    await remove(12, 13);
    await clock.advance(1_000);
    expect(begin(12, 13)).toBe(1);
    await remove(13, 14);
    await clock.advance(1_000);
    expect(begin(13, 14)).toBe(0);
    await clock.advance(60_000);
    expect(begin(13, 14)).toBe(1);
  });

  it("counts all machines of a deployment that is deleted, before they are terminating", async () => {
    await seed(20);
    await api.delete(machineDeploymentResource, refOf(deployment.metadata.name));
    await remove(0, 1);
    await clock.advance(4_000);
    expect(budget.ofMachine(machine(0))?.verdict).toBe("wait");
    await clock.advance(1_000);
    expect(budget.ofMachine(machine(0))).toMatchObject({ verdict: "held", held: { cause: "parent", count: 20 } });
  });

  it("counts the machines of a set that does not exist any more", async () => {
    await seed(20);
    await api.patch(machineSetResource, refOf("set"), { metadata: { finalizers: null } }, { kind: "merge" });
    await api.delete(machineSetResource, refOf("set"));
    await remove(0, 1);
    await clock.advance(5_000);
    const verdict = budget.ofMachine(machine(0));
    expect(verdict).toMatchObject({ held: { cause: "parent", count: 20 }, approver: { kind: "MachineDeployment" } });
  });

  it("counts no machines of an owner that is deleted without them", async () => {
    await seed(20);
    const orphan = { metadata: { finalizers: ["orphan", ...(deployment.metadata.finalizers ?? [])] } };
    await api.patch(machineDeploymentResource, refOf(deployment.metadata.name), orphan, { kind: "merge" });
    await api.delete(machineDeploymentResource, refOf(deployment.metadata.name));
    await remove(0, 1);
    await clock.advance(1_000);
    expect(begin(0, 1)).toBe(1);
  });

  it("counts no machines that a protection keeps", async () => {
    await seed(20);
    const protection = { metadata: { annotations: { [annotationKeys.deletionProtection]: "true" } } };
    for (let at = 5; at < 20; at++) await api.patch(machineResource, refOf(`m${at}`), protection, { kind: "merge" });
    await remove(0, 20);
    await clock.advance(5_000);
    expect(begin(0, 5)).toBe(5);
  });

  it("counts no machines of a protected deployment that is deleted", async () => {
    await seed(20);
    const protection = { metadata: { annotations: { [annotationKeys.deletionProtection]: "true" } } };
    await api.patch(machineDeploymentResource, refOf(deployment.metadata.name), protection, { kind: "merge" });
    await api.delete(machineDeploymentResource, refOf(deployment.metadata.name));
    await settle();
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
    await clock.advance(5_000);
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
  });

  it.each([
    ["its deployment", machineDeploymentResource, deployment.metadata.name],
    ["its set", machineSetResource, set.metadata.name],
    ["itself", machineResource, "m0"],
  ] as const)("begins the deletion of a machine that %s approves, and does not count it", async (_, type, name) => {
    await seed(20);
    const changed: string[] = [];
    budget.onChange(({ metadata }) => void changed.push(metadata.name));
    await remove(0, 20);
    await clock.advance(5_000);
    expect(begin(0, 1)).toBe(0);
    await annotate(type, name, inAnHour());
    expect(changed).toHaveLength(type === machineResource ? 0 : 20);
    expect(budget.ofMachine(machine(0))).toEqual({ verdict: "proceed", isApproved: true, cause: "machine" });
    expect(begin(0, 1)).toBe(1);
    expect(budget.ofSet(set, deployment).scopes.map(({ loss }) => loss)).toEqual([0, 0]);
    await annotate(type, name, "yes");
    expect(begin(1, 20)).toBe(0);
  });

  it("begins deletions of machines whose set does not exist, by the approval of the deployment whose set has its name", async () => {
    const former = aMachineSet({ metadata: { uid: "former" } });
    await seed(20);
    for (let at = 20; at < 40; at++) api.seed(machineResource, aMachine(named(`m${at}`), withVm, ownedBy(former)));
    await settle();
    await remove(20, 40);
    await clock.advance(60_000);
    expect(budget.ofMachine(machine(20))).toMatchObject({
      verdict: "held",
      approver: { kind: "MachineDeployment", name: deployment.metadata.name },
    });
    await annotate(machineDeploymentResource, deployment.metadata.name, inAnHour());
    expect(begin(20, 40)).toBe(20);
  });

  /** Of the deployment: `extra` is written after what names the object. */
  const bound = (what: string, extra = ""): Promise<void> =>
    annotate(machineDeploymentResource, deployment.metadata.name, `${what},uid=uid-pool${extra}`);
  const deletedAt = (at: number): string => machine(at).metadata.deletionTimestamp ?? "";

  it("begins the deletions that were requested before an approval, and none that come later", async () => {
    await seed(30);
    await remove(0, 12);
    await clock.advance(60_000);
    await remove(12, 29);
    await clock.advance(5_000);
    expect(budget.ofSet(set, deployment).requested).toMatchObject({ count: 29, before: deletedAt(28) });
    await bound(`requests=11,before=${deletedAt(0)}`);
    expect(begin(0, 29)).toBe(0);
    await bound(`requests=12,before=${deletedAt(0)}`);
    expect(begin(12, 29)).toBe(0);
    expect(budget.ofSet(set, deployment).requested).toMatchObject({ count: 17 });
    expect(begin(0, 12)).toBe(12);
    expect(budget.ofSet(set, deployment).scopes.map(({ loss }) => loss)).toEqual([0, 0]);
    await bound(`deletions=17,generation=1`);
    expect(begin(12, 29)).toBe(0);
    // Of a deployment that is not deleted, neither covers anything.
    for (const what of ["requests=17,generation=1", "requests=17"]) {
      await bound(what);
      expect(begin(12, 29)).toBe(0);
    }
  });

  it("begins all deletions of an owner that is deleted, if there are no more than were approved", async () => {
    await seed(20);
    await api.delete(machineDeploymentResource, refOf(deployment.metadata.name));
    await remove(0, 10);
    await clock.advance(5_000);
    const { generation = 0 } = caches.deployments.store.list(namespace)[0]?.metadata ?? {};
    await bound(`requests=19,generation=${generation}`);
    expect(begin(0, 10)).toBe(0);
    await bound(`requests=20,generation=${generation}`);
    expect(begin(0, 10)).toBe(10);
    await remove(10, 20);
    expect(begin(10, 20)).toBe(10);
  });

  it("begins approved deletions at their pace, and reports those that may follow", async () => {
    await seed(20, aMachineSet(ownedBy(deployment), { spec: { replicas: 20 } }));
    await remove(0, 20);
    await clock.advance(5_000);
    await bound(`requests=20,before=${deletedAt(19)}`, ",at-a-time=3");
    expect(begin(0, 20)).toBe(3);
    const pool = { kind: "MachineDeployment", name: deployment.metadata.name };
    expect(budget.ofMachine(machine(5))).toMatchObject({
      verdict: "held",
      held: { why: "pace", count: 1, scope: pool, limit: 3 },
      approver: pool,
    });
    expect(budget.ofSet(set, deployment).requested).toMatchObject({ why: "pace", count: 17, before: deletedAt(19) });
    // They wait for no approval.
    expect(budget.heldByCause()).toEqual(new Map());
    const reported = new Set<string>();
    budget.onChange(({ metadata }) => void reported.add(metadata.name));
    for (let at = 0; at < 3; at++)
      await api.patch(machineResource, refOf(`m${at}`), { metadata: { finalizers: null } }, { kind: "merge" });
    await settle();
    expect([...reported]).toEqual(expect.arrayContaining(["m3", "m19"]));
    // Not before they are replaced.
    expect(begin(3, 20)).toBe(0);
    reported.clear();
    for (let at = 20; at < 22; at++)
      api.seed(
        machineResource,
        aMachine(named(`m${at}`), ownedBy(set), inPhase("Pending"), { spec: { providerID: `mock:///${at}` } }),
      );
    await settle();
    expect(reported.size).toBe(0);
    for (let at = 20; at < 22; at++)
      await api.patch(machineResource, refOf(`m${at}`), inPhase("Running"), { kind: "merge", subresource: "status" });
    await settle();
    expect(reported.size).toBe(17);
    expect(begin(3, 20)).toBe(2);
    // A machine that does not serve is not missed.
    api.seed(machineResource, aMachine(named("m22"), ownedBy(set), inPhase("Failed"), beingDeleted(deletedAt(19))));
    await settle();
    expect(begin(22, 23)).toBe(1);
    await bound(`requests=20,before=${deletedAt(19)}`);
    expect(begin(5, 20)).toBe(15);
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
  });

  it("begins deletions at the pace of an approval of their set", async () => {
    await seed(12, aMachineSet());
    await remove(0, 12);
    await clock.advance(5_000);
    await annotate(machineSetResource, "set", `requests=12,before=${deletedAt(0)},uid=uid-set,at-a-time=4`);
    // As many are missing as the set wants: three.
    expect(begin(0, 12)).toBe(4);
    const reported: string[] = [];
    budget.onChange(({ metadata }) => void reported.push(metadata.name));
    await api.patch(machineResource, refOf("m0"), { metadata: { finalizers: null } }, { kind: "merge" });
    await settle();
    expect(reported).toHaveLength(11);
    expect(begin(1, 12)).toBe(1);
  });

  it("counts what an approval of a set's own deletions was used for, and forgets it with its object", async () => {
    await seed(20);
    await bound("deletions=15,generation=1", ",at-a-time=3");
    const approvedNow = () => budget.ofSet(set, caches.deployments.store.list(namespace)[0]).approved;
    expect(approvedNow()).toMatchObject({ kind: "MachineDeployment", work: "deletions", left: 15, room: 3, used: 0 });
    const by = caches.deployments.store.list(namespace)[0] ?? deployment;
    budget.useApproval({ by, count: 12 });
    expect(approvedNow()).toMatchObject({ left: 3, used: 12 });
    budget.useApproval({ by, count: -12 });
    expect(approvedNow()).toMatchObject({ left: 15, used: 0 });
    budget.useApproval({ by, count: 15 });
    expect(approvedNow()).toBeUndefined();
    await bound("creations=20,generation=1", ",at-a-time=3");
    expect(approvedNow()).toMatchObject({ work: "creations", left: 5, room: Infinity });
    await annotate(machineSetResource, "set", "deletions=2,generation=1,uid=uid-set");
    const [own = set] = caches.sets.store.list(namespace);
    expect(budget.ofSet(own, undefined).approved).toMatchObject({ kind: "MachineSet", left: 2, atATime: undefined });
    // Another generation, and another object.
    await api.patch(machineDeploymentResource, refOf("pool"), { spec: { replicas: 4 } }, { kind: "merge" });
    await bound("deletions=3,generation=2");
    expect(approvedNow()).toMatchObject({ left: 3, used: 0 });
    await api.patch(machineDeploymentResource, refOf("pool"), { metadata: { finalizers: null } }, { kind: "merge" });
    await api.delete(machineDeploymentResource, refOf("pool"));
    await settle();
    expect(caches.deployments.store.list(namespace)).toEqual([]);
    await bound("deletions=3,generation=1").catch(() => undefined);
    expect(budget.ofSet(set, deployment).approved).toBeUndefined();
  });

  describe("of a pool with a share of its own", () => {
    const share = (text: string): Promise<unknown> =>
      api.patch(
        machineDeploymentResource,
        refOf("pool"),
        { metadata: { annotations: { [annotationKeys.maxDeletionShare]: text } } },
        { kind: "merge" },
      );
    const roomsOf = () =>
      budget.rooms().flatMap(({ rule, scope, limit }) => (rule === "share" ? [[scope.kind, limit]] : []));

    it("lets its machines go, and leaves the namespace to others", async () => {
      await seed(20);
      const alone = aMachineSet(named("alone"), { metadata: { ownerReferences: [] } });
      api.seed(machineSetResource, alone);
      for (let at = 20; at < 34; at++)
        api.seed(
          machineResource,
          aMachine(named(`m${at}`), { spec: { providerID: `mock:///${at}` } }, inPhase("Running"), ownedBy(alone)),
        );
      await share("100%");
      await settle();
      expect(roomsOf()).toEqual([
        ["Namespace", 10],
        ["MachineDeployment", 20],
        ["MachineSet", 10],
      ]);
      await remove(0, 20);
      await clock.advance(5_000);
      expect(begin(0, 20)).toBe(20);
      await remove(20, 30);
      await clock.advance(5_000);
      expect(begin(20, 30)).toBe(10);
      await remove(30, 34);
      await clock.advance(1_000);
      expect(begin(30, 34)).toBe(0);
    });

    it("holds over that share, also where the flag holds nothing", async () => {
      await seed(20);
      await share("60%");
      await settle();
      await remove(0, 13);
      await clock.advance(5_000);
      expect(budget.ofMachine(machine(0))).toMatchObject({ verdict: "held", held: { limit: 12 } });
      budget.setShare(0);
      expect(budget.ofMachine(machine(0))).toMatchObject({ verdict: "held", held: { limit: 12 } });
      expect(budget.ofSet(set, deployment)).toMatchObject({ scopes: [{ share: 0.6 }], requested: { count: 13 } });
      expect(roomsOf()).toEqual([["MachineDeployment", 12]]);
    });

    it("still counts in the namespace under a smaller share, and an invalid one is that of the flag", async () => {
      await seed(40);
      await share("30%");
      await settle();
      expect(roomsOf()).toEqual([
        ["Namespace", 20],
        ["MachineDeployment", 12],
      ]);
      await share("most");
      await settle();
      expect(roomsOf()).toEqual([
        ["Namespace", 20],
        ["MachineDeployment", 20],
      ]);
    });
  });

  it("names set and machine as approvers where there is no wider one", async () => {
    await seed(12, aMachineSet());
    await remove(0, 12);
    await clock.advance(5_000);
    expect(budget.ofMachine(machine(0))).toMatchObject({ approver: { kind: "MachineSet", name: "set" } });
  });

  it("judges machines without owner by the namespace alone", async () => {
    await seed(0);
    for (let at = 0; at < 12; at++)
      api.seed(
        machineResource,
        aMachine(named(`m${at}`), { spec: { providerID: `mock:///${at}` } }, inPhase("Running")),
      );
    await settle();
    await remove(0, 12);
    await clock.advance(5_000);
    expect(budget.ofMachine(machine(0))).toMatchObject({
      held: { scope: { kind: "Namespace", name: namespace } },
      approver: { kind: "Machine", name: "m0" },
    });
  });

  it("shows on a set what is held, not before the request is complete, and keeps a condition meanwhile", async () => {
    await seed(20);
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
    await remove(0, 20);
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
    const condition = { type: deletionsHeldConditionType, status: "True" } as const;
    const reported = aMachineSet(ownedBy(deployment), { status: { machineSetCondition: [condition] } });
    expect(budget.ofSet(reported, deployment).requested).toMatchObject({ count: 20 });
    await clock.advance(5_000);
    expect(budget.ofSet(set, deployment).requested).toMatchObject({ count: 20, cause: "machine" });
    expect(budget.ofSet(aMachineSet(named("empty")), undefined).requested).toBeUndefined();
  });

  it("limits deletions by the rate of the class, whatever the share", async () => {
    budget = createDeletionBudget({ caches, namespace, clock, maxDeletionShare: 0 });
    await seed(4);
    for (let made = 0; made < 50; made++)
      budget.enter(aMachine(named(`gone${made}`), { spec: { providerID: "mock:///x" } }), "remediation", false);
    await remove(0, 1);
    expect(budget.ofMachine(machine(0))).toMatchObject({
      verdict: "held",
      held: { why: "rate", scope: { kind: "MachineClass", name: "small" }, limit: 50 },
    });
    expect(budget.enterOrphanVm("small")).toBe(false);
    expect(budget.ofSet(set, deployment).requested).toBeUndefined();
    await clock.advance(3_600_000 / 50);
    expect(begin(0, 1)).toBe(1);
    // Another class, but the same namespace.
    expect(budget.enterOrphanVm("other")).toBe(false);
    await clock.advance(3_600_000);
    expect(budget.enterOrphanVm("other")).toBe(true);
    expect(budget.begunByCause().get("orphan-vm")).toBe(1);
  });

  it("begins deletions of machines that do not serve, and holds none with a share of 0", async () => {
    await seed(12);
    api.seed(machineResource, aMachine(named("m12"), ownedBy(set), inPhase("Failed"), beingDeleted()));
    await settle();
    expect(begin(12, 13)).toBe(1);
    budget = createDeletionBudget({ caches, namespace, clock, maxDeletionShare: 0 });
    await remove(0, 12);
    expect(begin(0, 12)).toBe(12);
  });

  it("judges a deletion again that the API server rejected", async () => {
    await seed(20);
    budget.enter(machine(0), "scale-down", false);
    expect(budget.ofSet(set, deployment).counted.has("uid-m0")).toBe(false);
    budget.revoke("uid-m0");
    expect(budget.ofSet(set, deployment).counted.has("uid-m0")).toBe(true);
  });

  it("counts what sets hold", () => {
    const held = { why: "share", cause: "rollout", count: 3, limit: 1, total: 3, loss: 0 } as const;
    budget.recordHeld("ns/a", { ...held, scope: { kind: "Namespace", name: namespace } });
    expect(budget.heldByCause()).toEqual(new Map([["rollout", 3]]));
    budget.recordHeld("ns/a", undefined);
    expect(budget.heldByCause()).toEqual(new Map());
  });

  it("approves a scale-down by the set or its deployment", async () => {
    await seed(2);
    const until = annotated({ [annotationKeys.approveDeletions]: inAnHour() });
    const approved: MachineDeployment = aMachineDeployment(until);
    expect(budget.ofSet(set, deployment).isApproved).toBe(false);
    expect(budget.ofSet(set, approved).isApproved).toBe(true);
    expect(budget.ofSet(aMachineSet(until), undefined).isApproved).toBe(true);
  });
});
