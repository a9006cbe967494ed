import { annotationKeys, labelKeys, type Machine, machineResource } from "@millwright/core/machine-api";
import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import type { Claim, Node, Pod } from "../../model/node-objects.ts";
import { refOf } from "../builders.ts";
import { aBudget, aClaim, anAttachment, aPodWithVolume, aVolume } from "../drain-objects.ts";
import type { RandomEvents, Stage } from "./stage.ts";

/** What may happen to machines, their nodes, and the pods and volumes on these. */
export function machineEvents({ api, clock, below, oneOf, chance, next }: Stage): RandomEvents {
  const machines = () => api.all<Machine>(machineResource);
  const nodes = () => api.all<Node>(nodeResource);
  const setReady = (node: Node, status: string): void => {
    const lastTransitionTime = clock.now().toISOString();
    api.change(
      nodeResource,
      { name: node.metadata.name },
      { status: { conditions: [{ type: "Ready", status, lastTransitionTime }] } },
    );
  };
  return {
    deleteMachine: async () => {
      const machine = oneOf(machines());
      if (machine !== undefined) await api.delete(machineResource, refOf(machine.metadata.name));
    },
    force: async () => {
      const machine = oneOf(machines());
      if (machine === undefined) return;
      api.change(machineResource, refOf(machine.metadata.name), {
        metadata: { labels: { [labelKeys.forceDeletion]: "True" } },
      });
      await api.delete(machineResource, refOf(machine.metadata.name));
    },
    removeMachine: () => {
      const machine = oneOf(machines());
      if (machine !== undefined) api.remove(machineResource, refOf(machine.metadata.name));
    },
    disown: () => {
      const machine = oneOf(machines());
      if (machine !== undefined)
        api.change(machineResource, refOf(machine.metadata.name), {
          metadata: { labels: { name: oneOf(["pool", "solo", "none"]) } },
        });
    },
    machineRequest: () => {
      const machine = oneOf(machines());
      const spec = oneOf([
        { disableHealthTimeout: true },
        { disableHealthTimeout: null },
        { healthTimeout: "1m" },
        { healthTimeout: "2h" },
        { drainTimeout: "1m" },
        { creationTimeout: "2m" },
        { nodeConditions: "KernelDeadlock" },
        { nodeConditions: null },
        { providerID: null },
      ]);
      if (machine !== undefined) api.change(machineResource, refOf(machine.metadata.name), { spec });
    },
    contest: () => {
      const [a, b] = [oneOf(machines()), oneOf(machines())];
      const node = a?.metadata.labels?.[labelKeys.node];
      if (node !== undefined && b !== undefined)
        api.change(machineResource, refOf(b.metadata.name), { metadata: { labels: { [labelKeys.node]: node } } });
    },
    preserveMachine: () => {
      const machine = oneOf(machines());
      const value = oneOf(["now", "when-failed", "false", null]);
      if (machine !== undefined)
        api.change(machineResource, refOf(machine.metadata.name), {
          metadata: { annotations: { [annotationKeys.preserve]: value } },
        });
    },
    sicken: () => {
      for (const node of nodes()) if (chance(0.5)) setReady(node, "Unknown");
    },
    sickenOne: () => {
      const node = oneOf(nodes());
      if (node !== undefined) setReady(node, "False");
    },
    heal: () => {
      for (const node of nodes()) if (chance(0.8)) setReady(node, "True");
    },
    loseNode: () => {
      const node = oneOf(nodes());
      if (node !== undefined) api.remove(nodeResource, { name: node.metadata.name });
    },
    deleteNode: async () => {
      const node = oneOf(nodes());
      if (node !== undefined) await api.delete(nodeResource, { name: node.metadata.name });
    },
    preserveNode: () => {
      const node = oneOf(nodes());
      const value = oneOf(["now", "when-failed", "false", "", "what", null]);
      if (node !== undefined)
        api.change(
          nodeResource,
          { name: node.metadata.name },
          { metadata: { annotations: { [annotationKeys.preserve]: value } } },
        );
    },
    report: () => {
      const node = oneOf(nodes());
      const value = oneOf(["successful", "failed", null]);
      if (node !== undefined)
        api.change(
          nodeResource,
          { name: node.metadata.name },
          { metadata: { labels: { [labelKeys.updateResult]: value } } },
        );
    },
    select: () => {
      const node = oneOf(nodes());
      if (node !== undefined)
        api.change(
          nodeResource,
          { name: node.metadata.name },
          { metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } },
        );
    },
    taint: () => {
      const node = oneOf(nodes());
      const taints = oneOf([[], [{ key: "node.gardener.cloud/critical-components-not-ready", effect: "NoSchedule" }]]);
      if (node !== undefined) api.change(nodeResource, { name: node.metadata.name }, { spec: { taints } });
    },
    cordon: () => {
      const node = oneOf(nodes());
      if (node !== undefined)
        api.change(nodeResource, { name: node.metadata.name }, { spec: { unschedulable: chance(0.5) } });
    },
    pods: () => {
      for (const pod of api.all<Pod>(podResource))
        if (chance(0.5)) api.remove(podResource, { namespace: "default", name: pod.metadata.name });
    },
    volumes: () => {
      const node = oneOf(nodes());
      if (node === undefined) return;
      const name = `v${next()}`;
      api.seed(
        podResource,
        aPodWithVolume(name, {
          metadata: chance(0.5) ? { finalizers: ["x/y"] } : {},
          spec: { nodeName: node.metadata.name },
        }),
      );
      api.seed(persistentVolumeClaimResource, aClaim(`data-${name}`, chance(0.9) ? name : ""));
      if (chance(0.8)) api.seed(persistentVolumeResource, aVolume(name));
      api.seed(volumeAttachmentResource, anAttachment(name, node.metadata.name));
    },
    lateVolumes: () => {
      for (const { spec } of api.all<Claim>(persistentVolumeClaimResource)) {
        const name = spec?.volumeName ?? "";
        if (name !== "" && api.peek(persistentVolumeResource, { name }) === undefined)
          api.seed(persistentVolumeResource, aVolume(name));
      }
    },
    detach: () => {
      for (const { metadata } of api.all(volumeAttachmentResource))
        if (chance(0.6)) api.remove(volumeAttachmentResource, { name: metadata.name ?? "" });
    },
    budget: () => {
      const known = api.all(podDisruptionBudgetResource);
      if (known.length === 0)
        return api.seed(
          podDisruptionBudgetResource,
          aBudget({ metadata: { name: `b${next()}` }, status: { disruptionsAllowed: below(2) } }),
        );
      for (const { metadata } of known)
        api.remove(podDisruptionBudgetResource, { namespace: metadata.namespace, name: metadata.name ?? "" });
      return undefined;
    },
  };
}
