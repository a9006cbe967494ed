import { fileURLToPath } from "node:url";
import { status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { MachineDeployment } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aDeployment,
  type AutoscalerClient,
  connectAutoscaler,
  rejection,
  type ServedFleet,
  serveFleet,
} from "./testing/served-fleet.ts";
import { encodeNode } from "./wire/service.ts";

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await serveFleet();
});
afterEach(() => fleet.end());

const id = "ns/web";

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
