import { fileURLToPath } from "node:url";
import { status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { annotationKeys, type MachineDeployment, machineErrorCodes } from "@millwright/core";
import { messageOf } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import {
  aDeployment,
  aMachine,
  aSet,
  type AutoscalerClient,
  connectAutoscaler,
  type ServedFleet,
  serveFleet,
  wireNode,
} from "./testing/served-fleet.ts";
import { instanceErrorClasses, instanceStates } from "./wire/messages.ts";
import { cloudProviderService, encodeNode } from "./wire/service.ts";

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await serveFleet();
});
afterEach(() => fleet.end());

const id = "ns/web";
const sizeOf = (name = "web"): number | undefined => {
  const found = fleet.server.get(`deployment ns/${name}`);
  return found !== undefined && "replicas" in found.spec ? found.spec.replicas : undefined;
};
const triggerOf = (): string =>
  fleet.server.get("deployment ns/web")?.metadata.annotations?.[annotationKeys.triggerDeletion] ?? "";
/** The code and the text that a call is rejected with. */
const rejection = (code: number, details: RegExp): object => ({ code, details: expect.stringMatching(details) });
const deleteNodes = (...nodes: readonly ReturnType<typeof wireNode>[]) =>
  fleet.call("NodeGroupDeleteNodes", { id, nodes });
const nodeOf = (name: string) => wireNode(`node-${name}`, `mock:///${name}`);

describe("node groups", () => {
  it("are the deployments with a maximum, with the minimum or 0", async () => {
    fleet.add(
      aDeployment("web"),
      aDeployment("free", { metadata: { ...aDeployment("free").metadata, annotations: {} } }),
      aDeployment("batch", {
        metadata: { ...aDeployment("batch").metadata, annotations: { [annotationKeys.autoscalerMaxSize]: "9" } },
      }),
    );
    const { nodeGroups } = await fleet.call("NodeGroups", {});
    expect(nodeGroups).toEqual([
      { id: "ns/batch", minSize: 0, maxSize: 9, debug: "MachineDeployment ns/batch (0 to 9)" },
      { id, minSize: 1, maxSize: 5, debug: "MachineDeployment ns/web (1 to 5)" },
    ]);
  });

  it.each([
    ["x", "5"],
    ["1", "many"],
    ["6", "5"],
    ["-1", "5"],
  ])("are not those whose limits are %s and %s", async (min, max) => {
    const annotations = { [annotationKeys.autoscalerMinSize]: min, [annotationKeys.autoscalerMaxSize]: max };
    fleet.add(aDeployment("web", { metadata: { ...aDeployment("web").metadata, annotations } }));
    expect((await fleet.call("NodeGroups", {})).nodeGroups).toEqual([]);
    await expect(fleet.call("NodeGroupTargetSize", { id })).rejects.toMatchObject(
      rejection(status.NOT_FOUND, /no MachineDeployment ns\/web with a maximum size/),
    );
  });

  it("of a Node is that of its Machine, by the id of the VM or the name of the Node", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a"), aMachine("other", "b"));
    const groupOf = async (name: string, providerID: string): Promise<string> =>
      (await fleet.call("NodeGroupForNode", { node: wireNode(name, providerID) })).nodeGroup.id;
    expect(await groupOf("node-a", "mock:///a")).toBe(id);
    expect(await groupOf("renamed", "mock:///a")).toBe(id);
    expect(await groupOf("node-a", "")).toBe(id);
    expect(await groupOf("node-a", "mock:///another-vm")).toBe("");
    expect(await groupOf("node-b", "mock:///b")).toBe("");
    expect(await groupOf("control-plane", "mock:///cp")).toBe("");
  });
});

describe("sizes", () => {
  it("are those of the API server, also when the cache is behind", async () => {
    fleet.add(aDeployment("web"));
    fleet.server.set("deployment ns/web", aDeployment("web", { spec: { replicas: 4, template: { spec: {} } } }));
    expect(await fleet.call("NodeGroupTargetSize", { id })).toEqual({ targetSize: 4 });
  });

  it("increase up to the maximum", async () => {
    fleet.add(aDeployment("web"));
    await fleet.call("NodeGroupIncreaseSize", { id, delta: 3 });
    expect(sizeOf()).toBe(5);
    await expect(fleet.call("NodeGroupIncreaseSize", { id, delta: 1 })).rejects.toMatchObject(
      rejection(status.OUT_OF_RANGE, /6 machines exceed the maximum of 5/),
    );
    await expect(fleet.call("NodeGroupIncreaseSize", { id, delta: 0 })).rejects.toMatchObject(
      rejection(status.INVALID_ARGUMENT, /must be positive/),
    );
    expect(fleet.patches).toEqual([{ spec: { replicas: 5 } }]);
  });

  it("are computed again when another client changed the deployment in between", async () => {
    fleet.add(aDeployment("web"));
    fleet.beforePatch = () => {
      fleet.beforePatch = () => undefined;
      const other = aDeployment("web", { spec: { replicas: 3, template: { spec: {} } } });
      fleet.server.set("deployment ns/web", { ...other, metadata: { ...other.metadata, resourceVersion: "7" } });
    };
    await fleet.call("NodeGroupIncreaseSize", { id, delta: 1 });
    expect(sizeOf()).toBe(4);
  });

  it("decrease only by machines that have no VM, and not below the minimum", async () => {
    const pending = { spec: {}, status: { currentStatus: { phase: "CrashLoopBackOff" } } };
    fleet.add(
      aDeployment("web", { spec: { replicas: 3, template: { spec: {} } } }),
      aMachine("web", "a"),
      aMachine("web", "b"),
      aMachine("web", "c", pending),
    );
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -2 });
    expect(sizeOf()).toBe(2);
    expect(triggerOf()).toMatch(/^c~/);
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    expect(sizeOf()).toBe(2);
    await expect(fleet.call("NodeGroupDecreaseTargetSize", { id, delta: 1 })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
    fleet.add(aDeployment("idle", { spec: { replicas: 1, template: { spec: {} } } }));
    await fleet.call("NodeGroupDecreaseTargetSize", { id: "ns/idle", delta: -1 });
    expect(sizeOf("idle")).toBe(1);
  });
});

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
    expect(sizeOf()).toBe(size - names.length);
    expect(victimsIn(triggerOf())).toEqual(names);
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
    expect(sizeOf()).toBe(size);
    expect(victimsIn(triggerOf())).toEqual(names);
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
    expect(sizeOf()).toBe(size - names.length + 1);
  });

  it("end with ABORTED, so that the autoscaler calls again, when the conflicts outlast the deadline", async () => {
    let changes = 0;
    fleet.beforePatch = () => {
      const current = aDeployment("web");
      const metadata = { ...current.metadata, resourceVersion: `other-${(changes += 1)}` };
      fleet.server.set("deployment ns/web", { ...current, metadata });
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
    expect(sizeOf()).toBe(1);
    expect(triggerOf()).toMatch(/^b~[^,]*,c~[^,]*$/);
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
    expect(sizeOf()).toBe(2);
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
    expect(sizeOf()).toBe(1);
    const entry = String.raw`~\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    expect(triggerOf()).toMatch(new RegExp(`^a${entry},b${entry}$`));
    expect(fleet.patches).toHaveLength(1);
    expect(fleet.patches[0]).toMatchObject({
      metadata: { annotations: { [annotationKeys.lastReplicaChangeByScaler]: triggerOf().slice(2, 22) } },
    });
  });

  it("lowers the size once for each machine, however often it is requested", async () => {
    fleet.add(aDeployment("web", { spec: { replicas: 4, template: { spec: {} } } }));
    fleet.add(aMachine("web", "a"), aMachine("web", "b"));
    await deleteNodes(nodeOf("a"));
    await deleteNodes(nodeOf("a"));
    await deleteNodes(nodeOf("a"), nodeOf("b"), nodeOf("b"));
    expect(sizeOf()).toBe(2);
    expect(
      triggerOf()
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
    expect(sizeOf()).toBe(2);
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
    expect(sizeOf()).toBe(isAllowed ? 1 : 2);
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
    expect(triggerOf()).toMatch(/^a~/);
  });
});

describe("the nodes of a group", () => {
  it("have the id of the Node where it is written in another way than that of the Machine", async () => {
    fleet.add(aDeployment("web"), aMachine("web", "a", { spec: { providerID: "azure:///subscriptions/S/vm-a" } }));
    fleet.nodes.applyEvent({
      metadata: { name: "node-a", resourceVersion: "1" },
      spec: { providerID: "azure:///subscriptions/s/VM-A" },
    });
    const { instances } = await fleet.call("NodeGroupNodes", { id });
    expect(instances.map((each) => each.id)).toEqual(["azure:///subscriptions/s/VM-A"]);
  });

  it("are creating until the Node has joined, then running, then deleting", async () => {
    const phase = (text: string) => ({ status: { currentStatus: { phase: text } } });
    const { metadata } = aMachine("web", "d");
    fleet.add(
      aDeployment("web"),
      aMachine("web", "a", { spec: {}, status: {} }),
      aMachine("web", "b", phase("Pending")),
      aMachine("web", "c", phase("Unknown")),
      aMachine("web", "d", { metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    );
    const { instances } = await fleet.call("NodeGroupNodes", { id });
    const { creating, running, deleting } = instanceStates;
    // proto-loader gives enums as numbers.
    expect(instances.map((each) => each.status.instanceState)).toEqual([creating, creating, running, deleting]);
  });

  it.each([
    ["ResourceExhausted", instanceErrorClasses.outOfResources],
    ["InvalidArgument", instanceErrorClasses.other],
    ["Unavailable", undefined],
  ] as const)("have the error %s with the class %s", async (errorCode, instanceErrorClass) => {
    expect(machineErrorCodes).toHaveProperty(errorCode);
    const lastOperation = { type: "Create", state: "Failed", errorCode, description: "no capacity in zone a" };
    const statusOf = { currentStatus: { phase: "CrashLoopBackOff" }, lastOperation };
    fleet.add(aDeployment("web"), aMachine("web", "a", { spec: {}, status: statusOf }));
    const { instances } = await fleet.call("NodeGroupNodes", { id });
    const errorInfo =
      instanceErrorClass === undefined
        ? null
        : { errorCode, errorMessage: "no capacity in zone a", instanceErrorClass };
    expect(instances).toEqual([
      { id: "requested://ns/a", status: { instanceState: instanceStates.creating, errorInfo } },
    ]);
  });
});

describe("the template of a group", () => {
  const nodeTemplate = {
    capacity: { cpu: 4, memory: "16Gi", gpu: "1" },
    virtualCapacity: { "example.com/slots": 8 },
    architecture: "arm64",
    instanceType: "large",
    region: "r",
    zone: "r-a",
  };

  it("has capacity of the class, and labels and taints of the deployment, in the encoding of Kubernetes", async () => {
    fleet.classes.applyEvent({
      metadata: { name: "small", namespace: "ns", resourceVersion: "1" },
      providerSpec: {},
      nodeTemplate,
    });
    const nodeSpec = {
      metadata: { labels: { tier: "web" } },
      spec: {
        taints: [
          { key: "dedicated", value: "web", effect: "NoSchedule" },
          // Pods need not tolerate what an agent removes.
          { key: "readiness.k8s.io/cni", effect: "NoSchedule" },
          { key: "node.cilium.io/agent-not-ready", effect: "NoExecute" },
        ],
      },
    };
    const metadata = { annotations: { "machine.millwright.dev/startup-taints": "node.cilium.io/agent-not-ready" } };
    const spec: MachineDeployment["spec"] = {
      replicas: 0,
      template: { metadata, spec: { class: { name: "small" }, nodeTemplate: nodeSpec } },
    };
    fleet.add(aDeployment("web", { spec }));
    const { nodeBytes } = await fleet.call("NodeGroupTemplateNodeInfo", { id });
    const amounts = {
      pods: { string: "110" },
      cpu: { string: "4" },
      memory: { string: "16Gi" },
      "nvidia.com/gpu": { string: "1" },
      "example.com/slots": { string: "8" },
    };
    const expected = encodeNode({
      metadata: {
        name: "web-template",
        labels: {
          "kubernetes.io/hostname": "web-template",
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "arm64",
          "node.kubernetes.io/instance-type": "large",
          "topology.kubernetes.io/region": "r",
          "topology.kubernetes.io/zone": "r-a",
          tier: "web",
        },
      },
      spec: { taints: [{ key: "dedicated", value: "web", effect: "NoSchedule" }] },
      status: { capacity: amounts, allocatable: amounts, conditions: [{ type: "Ready", status: "True" }] },
    });
    expect(Buffer.from(nodeBytes).toString("hex")).toBe(Buffer.from(expected).toString("hex"));
    // Field 1 of core/v1 Node is metadata, whose field 1 is the name, here of 12 characters.
    expect(Buffer.from(nodeBytes).toString("hex")).toMatch(/^0a....0a0c/);
  });

  it("is not implemented without nodeTemplate: the autoscaler takes existing Nodes", async () => {
    fleet.add(aDeployment("web"));
    await expect(fleet.call("NodeGroupTemplateNodeInfo", { id })).rejects.toMatchObject(
      rejection(status.UNIMPLEMENTED, /MachineClass small has no nodeTemplate/),
    );
  });
});

const minutes = (count: number) => ({ seconds: count * 60, nanos: 0 });
const oldMinutes = (count: number) => ({ duration: count * 60e9 });
const defaults = {
  scaleDownUtilizationThreshold: 0.5,
  scaleDownGpuUtilizationThreshold: 0.6,
  zeroOrMaxNodeScaling: false,
  ignoreDaemonSetsUtilization: true,
  scaleDownUnneededDuration: minutes(10),
  scaleDownUnreadyDuration: minutes(20),
  MaxNodeProvisionDuration: minutes(15),
};

describe("options", () => {
  const withAnnotations = (more: Readonly<Record<string, string>>): MachineDeployment => {
    const { metadata } = aDeployment("web");
    return aDeployment("web", { metadata: { ...metadata, annotations: { ...metadata.annotations, ...more } } });
  };

  it("are the defaults of the autoscaler, changed by Gardener's annotations", async () => {
    fleet.add(
      withAnnotations({
        "autoscaler.gardener.cloud/scale-down-utilization-threshold": "0.25",
        "autoscaler.gardener.cloud/scale-down-unneeded-time": "1h30m",
        "autoscaler.gardener.cloud/scale-down-unready-time": "soon",
        "autoscaler.gardener.cloud/max-node-provision-time": "25m",
      }),
    );
    expect(await fleet.call("NodeGroupGetOptions", { id, defaults })).toEqual({
      nodeGroupAutoscalingOptions: {
        ...defaults,
        scaleDownUtilizationThreshold: 0.25,
        scaleDownUnneededDuration: minutes(90),
        scaleDownUnneededTime: oldMinutes(90),
        scaleDownUnreadyTime: oldMinutes(20),
        MaxNodeProvisionDuration: minutes(25),
        MaxNodeProvisionTime: oldMinutes(25),
      },
    });
  });

  it.each([{}, { "autoscaler.gardener.cloud/scale-down-unready-time": "soon" }])(
    "are none with the annotations %o: the autoscaler would take the start-up time for 0",
    async (annotations) => {
      fleet.add(withAnnotations(annotations));
      expect(await fleet.call("NodeGroupGetOptions", { id, defaults })).toEqual({ nodeGroupAutoscalingOptions: null });
    },
  );
});

describe("an autoscaler from 1.30 to 1.34.1", () => {
  const protos = ["./testing", "../proto"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const loaded = loadSync("old-autoscaler.proto", {
    includeDirs: protos,
    keepCase: true,
    longs: Number,
    objects: true,
  });
  const service = loaded["clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider"];
  const connect = (): AutoscalerClient => {
    if (service === undefined || "format" in service) throw new Error("the proto file has no service");
    return connectAutoscaler(fleet.address, undefined, service);
  };

  it("gets the options of a group in the fields that it reads, and reads none without an annotation", async () => {
    const { metadata } = aDeployment("web");
    const unneeded = { "autoscaler.gardener.cloud/scale-down-unneeded-time": "90s" };
    fleet.add(
      aDeployment("web", { metadata: { ...metadata, annotations: { ...metadata.annotations, ...unneeded } } }),
      aDeployment("plain"),
    );
    const old = connect();
    const sent = {
      scaleDownUtilizationThreshold: 0.5,
      scaleDownUnneededTime: oldMinutes(10),
      scaleDownUnreadyTime: oldMinutes(20),
      MaxNodeProvisionTime: oldMinutes(15),
    };
    expect(await old.call("NodeGroupGetOptions", { id, defaults: sent })).toMatchObject({
      nodeGroupAutoscalingOptions: { ...sent, scaleDownUnneededTime: oldMinutes(1.5) },
    });
    expect(await old.call("NodeGroupGetOptions", { id: "ns/plain", defaults: sent })).toEqual({});
    old.close();
  });

  it("gets the Node of a group as a message", async () => {
    const nodeTemplate = { capacity: { cpu: 2 }, instanceType: "large", region: "r", zone: "r-a" };
    const metadata = { name: "small", namespace: "ns", resourceVersion: "1" };
    fleet.classes.applyEvent({ metadata, providerSpec: {}, nodeTemplate });
    fleet.add(aDeployment("web"));
    const old = connect();
    expect(await old.call("NodeGroupTemplateNodeInfo", { id })).toMatchObject({
      nodeInfo: { metadata: { name: "web-template" }, status: { capacity: { cpu: { string: "2" } } } },
    });
    old.close();
  });
});

test("calls are rejected as UNAVAILABLE until the caches are filled", async () => {
  let fill: () => void = () => undefined;
  const cold = await serveFleet({ ready: () => new Promise((resolve) => (fill = resolve)) });
  await expect(cold.call("NodeGroups", {})).rejects.toMatchObject(
    rejection(status.UNAVAILABLE, /caches are not filled/),
  );
  fill();
  await expect.poll(async () => (await cold.call("NodeGroups", {})).nodeGroups).toEqual([]);
  await cold.end();
});

test("what the service has no answer to is rejected as UNIMPLEMENTED, and the rest is harmless", async () => {
  expect(await fleet.call("Refresh", {})).toEqual({});
  expect(await fleet.call("Cleanup", {})).toEqual({});
  expect(await fleet.call("GPULabel", {})).toEqual({ label: "cluster-api/accelerator" });
  expect(await fleet.call("GetAvailableGPUTypes", {})).toEqual({ gpuTypes: {} });
  // @ts-expect-error: it has no method.
  await expect(fleet.call("PricingNodePrice", {})).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

test("the proto has the rpcs and field numbers that the cluster autoscaler publishes", () => {
  const bytes = (name: string, message: object): string =>
    cloudProviderService[name]?.requestSerialize(message).toString("hex") ?? "";
  const reply = (name: string, message: object): string =>
    cloudProviderService[name]?.responseSerialize(message).toString("hex") ?? "";
  // Written by hand: number << 3 | wire type, as cluster-autoscaler/cloudprovider/externalgrpc/protos/externalgrpc.proto has them.
  expect(cloudProviderService["NodeGroups"]?.path).toBe(
    "/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/NodeGroups",
  );
  expect(bytes("NodeGroupTargetSize", { id: "a" })).toBe("0a0161");
  expect(bytes("NodeGroupIncreaseSize", { id: "a", delta: 2 })).toBe("0802120161");
  expect(bytes("NodeGroupDecreaseTargetSize", { id: "a", delta: -1 })).toBe("08ffffffffffffffffff01120161");
  expect(bytes("NodeGroupDeleteNodes", { id: "a", nodes: [{ providerID: "p", name: "n" }] })).toBe(
    "0a060a017012016e120161",
  );
  expect(reply("NodeGroups", { nodeGroups: [{ id: "a", minSize: 1, maxSize: 2, debug: "d" }] })).toBe(
    "0a0a0a016110011802220164",
  );
  expect(reply("NodeGroupTargetSize", { targetSize: 3 })).toBe("0803");
  const errorInfo = { errorCode: "c", errorMessage: "m", instanceErrorClass: 99 };
  expect(reply("NodeGroupNodes", { instances: [{ id: "i", status: { instanceState: 2, errorInfo } }] })).toBe(
    "0a110a0169120c080212080a016312016d1863",
  );
  expect(reply("NodeGroupTemplateNodeInfo", { nodeBytes: Buffer.from("n") })).toBe("12016e");
});
