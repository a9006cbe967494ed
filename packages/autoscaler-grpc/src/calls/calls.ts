import { keyFor } from "@millwright/kube";
import { toInstance } from "../groups/instance.ts";
import { sizeOf } from "../groups/plan-resize.ts";
import { scalingOptions } from "../groups/scaling-options.ts";
import { templateNode } from "../template/template-node.ts";
import { CallError } from "../wire/call-error.ts";
import type { WireCalls } from "../wire/messages.ts";
import { encodeNode } from "../wire/service.ts";
import { type Groups, toWireGroup } from "./groups.ts";
import { createResizeQueue, readDeployment, type ResizeTools } from "./resize-queue.ts";
import { decrease, deleteNodes, increase } from "./resize.ts";

type Method<Name extends keyof WireCalls> = (
  request: WireCalls[Name][0],
  signal: AbortSignal,
) => WireCalls[Name][1] | Promise<WireCalls[Name][1]>;

/** What answers each rpc, apart from gRPC. */
export type Calls = { readonly [Name in keyof WireCalls]: Method<Name> };

/** The label by which the autoscaler recognizes Nodes with GPUs: that of Cluster API. */
const GPU_LABEL = "cluster-api/accelerator";

const noGroup = { id: "", minSize: 0, maxSize: 0, debug: "" };

/** Makes the methods of the service. */
export function createCalls(groups: Groups, tools: ResizeTools): Calls {
  const queue = createResizeQueue(tools);
  return {
    NodeGroups: () => ({ nodeGroups: groups.list().map(toWireGroup) }),
    NodeGroupForNode({ node }) {
      const group = node === null ? undefined : groups.ofNode(node);
      return { nodeGroup: group === undefined ? noGroup : toWireGroup(group) };
    },
    GPULabel: () => ({ label: GPU_LABEL }),
    GetAvailableGPUTypes: () => ({ gpuTypes: {} }),
    Cleanup: () => ({}),
    Refresh: () => ({}),
    async NodeGroupTargetSize({ id }, signal) {
      return { targetSize: sizeOf(await readDeployment(tools, groups.get(id), signal)) };
    },
    async NodeGroupIncreaseSize({ id, delta }, signal) {
      await increase(queue, groups.get(id), delta, signal);
      return {};
    },
    async NodeGroupDeleteNodes({ id, nodes }, signal) {
      await deleteNodes(queue, tools, groups.get(id), nodes, signal);
      return {};
    },
    async NodeGroupDecreaseTargetSize({ id, delta }, signal) {
      await decrease(queue, tools, groups.get(id), delta, signal);
      return {};
    },
    NodeGroupNodes({ id }) {
      const { index, deployment, fleet } = groups.get(id);
      const machines = index.machinesOf(deployment.metadata.uid ?? "");
      return { instances: machines.map((machine) => toInstance(machine, fleet.nodes)) };
    },
    NodeGroupTemplateNodeInfo({ id }) {
      const { deployment, fleet } = groups.get(id);
      const className = deployment.spec.template.spec.class?.name ?? "";
      const machineClass = fleet.classes.get(keyFor({ namespace: deployment.metadata.namespace, name: className }));
      const node = templateNode(deployment, machineClass);
      if (node === undefined)
        throw new CallError("UNIMPLEMENTED", `MachineClass ${className} has no nodeTemplate: its Nodes are not known`);
      const bytes = encodeNode(node);
      return { nodeInfo: bytes, nodeBytes: bytes };
    },
    NodeGroupGetOptions: ({ id, defaults }) => ({
      nodeGroupAutoscalingOptions: scalingOptions(groups.get(id).deployment, defaults),
    }),
  };
}
