import { status } from "@grpc/grpc-js";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { messageOf } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aDeployment,
  aMachine,
  aSet,
  rejection,
  type ServedFleet,
  serveFleet,
  wireNode,
} from "./testing/served-fleet.ts";

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await serveFleet();
});
afterEach(() => fleet.end());

const id = "ns/web";

const deleteNodes = (...nodes: readonly ReturnType<typeof wireNode>[]) =>
  fleet.call("NodeGroupDeleteNodes", { id, nodes });
const nodeOf = (name: string) => wireNode(`node-${name}`, `mock:///${name}`);

describe("several calls at once", () => {
  const size = 20;
  const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
  const victimsIn = (text: string): readonly string[] =>
    text.split(",").flatMap((entry) => (entry === "" ? [] : [entry.split("~")[0] ?? ""]));
  beforeEach(() => {
    const { metadata } = aDeployment("web");
    const annotations = { [annotationKeys.autoscalerMaxSize]: "100" };
    const spec = { replicas: size, template: { spec: {} } };
    fleet.add(aDeployment("web", { metadata: { ...metadata, annotations }, spec }));
    for (const name of names) fleet.add(aMachine("web", name));
  });

  it("delete each node once, in a write that they share", async () => {
    await Promise.all(names.map((name) => deleteNodes(nodeOf(name))));
    expect(fleet.sizeOf()).toBe(size - names.length);
    expect(victimsIn(fleet.triggerOf())).toEqual(names);
    expect(fleet.patches.length).toBeLessThan(names.length);
  });

  it("succeed beside another client that changes the deployment each time", async () => {
    let changes = 0;
    fleet.beforePatch = () => {
      const current = fleet.server.get("deployment ns/web");
      changes += 1;
      if (changes % 4 === 0 || current === undefined) return;
      const metadata = { ...current.metadata, resourceVersion: `other-${changes}` };
      fleet.server.set("deployment ns/web", Object.assign({}, current, { metadata }));
    };
    await Promise.all([
      ...names.map((name) => deleteNodes(nodeOf(name))),
      ...names.map(() => fleet.call("NodeGroupIncreaseSize", { id, delta: 1 })),
    ]);
    expect(fleet.sizeOf()).toBe(size);
    expect(victimsIn(fleet.triggerOf())).toEqual(names);
  });

  it("fail only each for itself", async () => {
    const answers = await Promise.allSettled([
      fleet.call("NodeGroupIncreaseSize", { id, delta: 81 }),
      deleteNodes(nodeOf("m0"), wireNode("stray", "mock:///stray")),
      ...names.slice(1).map((name) => deleteNodes(nodeOf(name))),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([
      "rejected",
      "rejected",
      ...names.slice(1).map(() => "fulfilled"),
    ]);
    expect(fleet.sizeOf()).toBe(size - names.length + 1);
  });

  it("end with ABORTED, so that the autoscaler calls again, when the conflicts outlast the deadline", async () => {
    let changes = 0;
    // A write may be in flight when the next test has another fleet.
    const { server } = fleet;
    fleet.beforePatch = () => {
      const current = aDeployment("web");
      const metadata = { ...current.metadata, resourceVersion: `other-${(changes += 1)}` };
      server.set("deployment ns/web", { ...current, metadata });
    };
    await expect(fleet.call("NodeGroupIncreaseSize", { id, delta: 1 }, { deadlineMs: 300 })).rejects.toMatchObject({
      code: expect.toBeOneOf([status.ABORTED, status.DEADLINE_EXCEEDED]),
    });
  });
});

describe("machines without a VM", () => {
  const failed = {
    spec: {},
    status: { currentStatus: { phase: "CrashLoopBackOff" }, lastOperation: { type: "Create", state: "Failed" } },
  };

  it("are given back below the minimum, which is one of machines that serve", async () => {
    const { metadata } = aDeployment("web");
    const annotations = { [annotationKeys.autoscalerMinSize]: "3", [annotationKeys.autoscalerMaxSize]: "5" };
    const spec = { replicas: 3, template: { spec: {} } };
    fleet.add(aDeployment("web", { metadata: { ...metadata, annotations }, spec }));
    fleet.add(aMachine("web", "a"), aMachine("web", "b", failed), aMachine("web", "c", failed));
    const requested = ["b", "c"].map((name) => wireNode(`requested://ns/${name}`, `requested://ns/${name}`));
    await deleteNodes(...requested);
    await deleteNodes(...requested);
    expect(fleet.sizeOf()).toBe(1);
    expect(fleet.triggerOf()).toMatch(/^b~[^,]*,c~[^,]*$/);
    await expect(deleteNodes(nodeOf("a"))).rejects.toMatchObject(
      rejection(status.FAILED_PRECONDITION, /below the minimum of 3/),
    );
  });

  const condition = (type: string) => ({ status: { conditions: [{ type, status: "True" }] } });
  const { metadata } = aDeployment("web");
  it.each<[string, Partial<MachineDeployment>]>([
    ["is frozen", { metadata: { ...metadata, labels: { freeze: "True" } } }],
    ["has the condition Frozen", condition("Frozen")],
    ["waits for an approval", condition("DeletionsHeld")],
  ])("are kept by a decrease while the deployment %s, without an error", async (_, change) => {
    const spec = { replicas: 3, template: { spec: {} } };
    fleet.add(aDeployment("web", { spec, ...change }), aMachine("web", "a"), aMachine("web", "b", failed));
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    expect(fleet.patches).toEqual([]);
  });

  it("are kept by a decrease while the set waits for lost machines, or a template is rolled out", async () => {
    const spec = { replicas: 3, template: { spec: {} } };
    fleet.add(aDeployment("web", { spec }), aMachine("web", "a"), aMachine("web", "b", failed));
    const set = aSet("web");
    const annotations = { [annotationKeys.expectedReplicas]: "3" };
    fleet.sets.applyEvent({ ...set, metadata: { ...set.metadata, resourceVersion: "2", annotations } });
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    fleet.sets.applyEvent({ ...set, metadata: { ...set.metadata, resourceVersion: "3" } });
    fleet.sets.applyEvent(aSet("web", "web-old"));
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    expect(fleet.patches).toEqual([]);
    fleet.sets.applyDelete({ namespace: "ns", name: "web-old", uid: "set-web-old" });
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    expect(fleet.sizeOf()).toBe(2);
  });
});

describe("the deletion of nodes", () => {
  it("lowers the size and names the machines in one write", async () => {
    fleet.add(
      aDeployment("web", { spec: { replicas: 3, template: { spec: {} } } }),
      aMachine("web", "b"),
      aMachine("web", "a"),
    );
    await deleteNodes(nodeOf("b"), nodeOf("a"));
    expect(fleet.sizeOf()).toBe(1);
    const entry = String.raw`~\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    expect(fleet.triggerOf()).toMatch(new RegExp(`^a${entry},b${entry}$`));
    expect(fleet.patches).toHaveLength(1);
    expect(fleet.patches[0]).toMatchObject({
      metadata: { annotations: { [annotationKeys.lastReplicaChangeByScaler]: fleet.triggerOf().slice(2, 22) } },
    });
  });

  it("lowers the size once for each machine, however often it is requested", async () => {
    fleet.add(aDeployment("web", { spec: { replicas: 4, template: { spec: {} } } }));
    fleet.add(aMachine("web", "a"), aMachine("web", "b"));
    await deleteNodes(nodeOf("a"));
    await deleteNodes(nodeOf("a"));
    await deleteNodes(nodeOf("a"), nodeOf("b"), nodeOf("b"));
    expect(fleet.sizeOf()).toBe(2);
    expect(
      fleet
        .triggerOf()
        .split(",")
        .map((entry) => entry.split("~")[0]),
    ).toEqual(["a", "b"]);
    expect(fleet.patches).toHaveLength(2);
  });

  it("lowers the size once when the entry is gone because the machine is terminating, which the cache does not show", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a"));
    const { metadata } = aMachine("web", "a");
    fleet.server.set(
      "machine ns/a",
      aMachine("web", "a", { metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    );
    await deleteNodes(nodeOf("a"));
    fleet.server.delete("machine ns/a");
    await deleteNodes(nodeOf("a"));
    expect(fleet.sizeOf()).toBe(2);
  });

  it.each([
    [
      "is marked already",
      {
        metadata: {
          annotations: {
            [annotationKeys.machinePriority]: "1",
            [annotationKeys.markedForDeletionTime]: "2026-01-01T00:00:00Z",
          },
        },
      },
    ],
    ["is Failed, and so replaced", { status: { currentStatus: { phase: "Failed" } } }],
  ])("does not lower the size for a machine that %s", async (_, change) => {
    fleet.add(
      aDeployment("web"),
      aMachine(
        "web",
        "a",
        "metadata" in change ? { metadata: { ...aMachine("web", "a").metadata, ...change.metadata } } : change,
      ),
    );
    await deleteNodes(nodeOf("a"));
    expect(fleet.patches).toEqual([]);
  });

  it("keeps the minimum, and changes nothing when one of the nodes may not be deleted", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a"), aMachine("web", "b"), aMachine("other", "c"));
    await expect(deleteNodes(nodeOf("a"), nodeOf("b"))).rejects.toMatchObject(
      rejection(status.FAILED_PRECONDITION, /0 machines are below the minimum of 1/),
    );
    await expect(deleteNodes(nodeOf("a"), nodeOf("c"))).rejects.toMatchObject(
      rejection(status.INVALID_ARGUMENT, /Node node-c does not belong to MachineDeployment web/),
    );
    await expect(deleteNodes(wireNode("stray", "mock:///stray"))).rejects.toMatchObject(
      rejection(status.NOT_FOUND, /Node stray belongs to no Machine/),
    );
    const disabled = { [annotationKeys.scaleDownDisabled]: "true" };
    await expect(deleteNodes(wireNode("node-a", "mock:///a", disabled))).rejects.toMatchObject(
      rejection(status.FAILED_PRECONDITION, /scale-down-disabled/),
    );
    fleet.nodes.applyEvent({ metadata: { name: "node-a", resourceVersion: "1", annotations: disabled } });
    await expect(deleteNodes(nodeOf("a"))).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
    expect(fleet.patches).toEqual([]);
  });

  it.each<[string, string, string, number, boolean]>([
    ["True", "NewMachineSetAvailable", "at the end of a rollout, which the cache of sets does not show yet", 2, true],
    ["Unknown", "DeploymentPaused", "in a paused rollout", 2, true],
    ["True", "MachineSetUpdated", "in a rollout", 2, false],
    ["False", "ProgressDeadlineExceeded", "in a rollout without progress", 2, false],
    ["False", "ProgressDeadlineExceeded", "in a deployment that waits for machines of its only template", 1, true],
  ])("with Progressing %s, %s, %s", async (state, reason, _, activeSets, isAllowed) => {
    const conditions = [{ type: "Progressing", status: state, reason }];
    fleet.add(aDeployment("web", { status: { conditions } }), aMachine("web", "a"));
    if (activeSets > 1) fleet.sets.applyEvent(aSet("web", "web-old"));
    const answer = await deleteNodes(nodeOf("a")).then(() => "OK", messageOf);
    expect(answer).toMatch(isAllowed ? /^OK$/ : /FAILED_PRECONDITION: .*is rolling out/);
    expect(fleet.sizeOf()).toBe(isAllowed ? 1 : 2);
  });

  it("is rejected in a rollout of a deployment without the condition, which has no deadline", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a"));
    fleet.sets.applyEvent(aSet("web", "web-old"));
    await expect(deleteNodes(nodeOf("a"))).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  });

  it("finds a machine without VM by the id of its instance", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a", { spec: {} }));
    const { instances } = await fleet.call("NodeGroupNodes", { id });
    const [{ id: instanceId } = { id: "" }] = instances;
    expect(instanceId).toBe("requested://ns/a");
    await deleteNodes(wireNode(instanceId, instanceId));
    expect(fleet.triggerOf()).toMatch(/^a~/);
  });
});
