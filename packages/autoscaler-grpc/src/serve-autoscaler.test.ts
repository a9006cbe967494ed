import { once } from "node:events";
import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { annotationKeys } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, test } from "vitest";
import { aDeployment, aMachine, rejection, type ServedFleet, serveFleet, wireNode } from "./testing/served-fleet.ts";
import { instanceErrorClasses, instanceStates } from "./wire/messages.ts";
import { cloudProviderService } from "./wire/service.ts";

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await serveFleet();
});
afterEach(() => fleet.end());

const id = "ns/web";

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
    expect(fleet.sizeOf()).toBe(5);
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
    expect(fleet.sizeOf()).toBe(4);
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
    expect(fleet.sizeOf()).toBe(2);
    expect(fleet.triggerOf()).toMatch(/^c~/);
    await fleet.call("NodeGroupDecreaseTargetSize", { id, delta: -1 });
    expect(fleet.sizeOf()).toBe(2);
    await expect(fleet.call("NodeGroupDecreaseTargetSize", { id, delta: 1 })).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
    });
    fleet.add(aDeployment("idle", { spec: { replicas: 1, template: { spec: {} } } }));
    await fleet.call("NodeGroupDecreaseTargetSize", { id: "ns/idle", delta: -1 });
    expect(fleet.sizeOf("idle")).toBe(1);
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

test("calls are answered beside hundreds of connections that send nothing, most of which are closed", async () => {
  fleet.add(aDeployment("web"));
  await fleet.call("NodeGroups", {});
  const [host = "", port = ""] = fleet.address.split(":");
  const sockets = await Promise.all(
    Array.from({ length: 300 }, async () => {
      const socket = connect(Number(port), host);
      // Its end is seen only by those who read.
      socket.resume().on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      return socket;
    }),
  );
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThan(250);
  // The connection of the call before may be among the closed ones: the client connects again.
  await expect.poll(() => fleet.call("NodeGroups", {}).catch(() => undefined)).toHaveProperty("nodeGroups");
});
