/**
 * Cloud, nodes and pods of a measurement, in a process of its own, so that their CPU is not that of the controllers. Started by world.ts, which sends
 * {@link WorldRequest}s; ends with its parent.
 */
import { loadKubeConfig, createApiClient } from "@millwright/kube";
import { createClusterFaults } from "@millwright/devcluster";
import { ownerTagKeys } from "@millwright/provider-mock";
import { simulatedNodes, startFleet } from "../../harness/installation.ts";
import { startWorkloads } from "../../harness/workloads.ts";
import { type VmCopy, worldAgent, type WorldAnswer, type WorldOptions, type WorldRequest } from "./world-messages.ts";

const send = (answer: WorldAnswer): void => void process.send?.(answer);
process.once("disconnect", () => process.exit());
// Ctrl-C in a terminal reaches the whole group: the parent ends this process after the controllers.
process.on("SIGINT", () => {});

const { kubeconfig, cloudLatencyMs, heartbeatMs, withPods }: WorldOptions = JSON.parse(process.argv[2] ?? "{}");
const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: worldAgent });
const clusterFaults = createClusterFaults();
const nodes = simulatedNodes(api, { clusterFaults, heartbeatMs, silenceMs: 4 * heartbeatMs });
/** VMs whose Nodes are no affair of a kubelet. */
const copied = new Set<string>();
const fleet = await startFleet(
  api,
  { latencyMs: cloudLatencyMs, bootDelayMs: 100, deleteDelayMs: 100 },
  { start: nodes.start, sync: (vms) => nodes.sync(vms.filter(({ nodeName }) => !copied.has(nodeName))) },
);
const workloads = withPods ? startWorkloads(api, { clusterFaults }) : undefined;

async function copyVm(name: string, copies: readonly VmCopy[]): Promise<readonly string[]> {
  const { cloud } = fleet;
  const { machineType, region, zone, image, labels, tags } = await cloud.getVm(name);
  for (const copy of copies) copied.add(copy.name);
  const created = copies.map((copy) => {
    const own = { [ownerTagKeys.machineName]: copy.name, [ownerTagKeys.machineUid]: copy.machineUid };
    const input = { machineType, region, zone, image, labels, tags: { ...tags, ...own } };
    return cloud.createVm({ ...input, name: copy.name, token: copy.machineUid });
  });
  return (await Promise.all(created)).map(({ providerId }) => providerId);
}

process.on("message", (request: WorldRequest) => {
  void (async (): Promise<void> => {
    try {
      if (request.kind === "copy-vm") {
        send({ id: request.id, providerIds: await copyVm(request.name, request.copies) });
        return;
      }
      if (request.kind === "deploy") await workloads?.deploy(request.name, request.replicas);
      else if (request.kind === "flap")
        clusterFaults.add({ kind: "node-flaps", everyMs: request.everyMs, nodes: request.nodes });
      else clusterFaults.clear();
      send({ id: request.id });
    } catch (error) {
      send({ id: request.id, error: String(error) });
    }
  })();
});
send({ id: 0, vms: fleet.cloud.vms().length });
