import { annotationKeys, type Machine, type Taint } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, annotated, type Change, inPhase } from "../../testing/builders.ts";
import { creating, healthy } from "../../testing/node-health.ts";
import { aSnapshot, failed, itsNode, lastly, testNow, withVm } from "../../testing/snapshots.ts";
import { decideNode } from "../../testing/synced-nodes.ts";
import { decideMachine } from "../decide.ts";

const cni: Taint = { key: "readiness.k8s.io/cni", value: "pending", effect: "NoSchedule" };
const tier: Taint = { key: "tier", value: "web", effect: "NoSchedule" };
const agent: Taint = { key: "node.cilium.io/agent-not-ready", effect: "NoExecute" };

const template = (...taints: readonly Taint[]): Change<Machine> => ({ spec: { nodeTemplate: { spec: { taints } } } });
const joining = (...taints: readonly Taint[]): Machine =>
  aMachine(withVm, inPhase("Pending"), creating, template(...taints));
const served = (...taints: readonly Taint[]): Machine =>
  aMachine(withVm, inPhase("Running"), lastly("Create", "Successful", "joined"), template(...taints));
const recording = (...taints: readonly Taint[]) => ({
  [annotationKeys.lastAppliedNodeTemplate]: JSON.stringify({ metadata: {}, spec: { taints } }),
});
const nodeWith = (taints: readonly Taint[], annotations: Readonly<Record<string, string>> = {}): Node =>
  itsNode({ metadata: { annotations }, spec: { taints } });

/** The node after the reconciles that the controllers make of it. */
function synced(node: Node, machine: Machine): Node {
  const [action] = decideNode(node, machine).actions;
  if (action?.kind !== "PatchNode") return node;
  const { finalizers = [], ...metadata } = (applyMergePatch(node, action.patch) as Node).metadata;
  const after = { ...(applyMergePatch(node, action.patch) as Node), metadata: { ...metadata, finalizers } };
  return synced(after, machine);
}
const taintsOf = ({ spec }: Node): readonly string[] => (spec?.taints ?? []).map(({ key }) => key);
/** The agent removes a taint, as often as it is there. */
const without = (node: Node, { key }: Taint): Node => ({
  ...node,
  spec: { ...node.spec, taints: (node.spec?.taints ?? []).filter((taint) => taint.key !== key) },
});

describe("the startup taints of a template", () => {
  it("are set once, in the phase in which the node joins and in all later ones", () => {
    const joined = synced(nodeWith([]), joining(cni, tier));
    expect(taintsOf(joined)).toEqual([cni.key, tier.key]);
    const started = without(joined, cni);
    for (const machine of [joining(cni, tier), served(cni, tier)]) {
      expect(taintsOf(synced(started, machine))).toEqual([tier.key]);
      // Other taints are put back.
      expect(taintsOf(synced(without(started, tier), machine))).toEqual([tier.key]);
    }
  });

  it("are set ten at once, with one record", () => {
    const ten = Array.from({ length: 10 }, (_, index) => ({ ...cni, key: `readiness.k8s.io/${index}` }));
    const { actions } = decideNode(nodeWith([]), joining(...ten));
    expect(actions).toHaveLength(1);
    const node = synced(nodeWith([]), joining(...ten));
    expect(taintsOf(node)).toHaveLength(10);
    expect(taintsOf(synced({ ...node, spec: { taints: [] } }, joining(...ten)))).toEqual([]);
  });

  it("may be listed by the machine", () => {
    const listing = annotated({ [annotationKeys.startupTaints]: agent.key });
    const machine = aMachine(joining(agent), listing);
    const node = synced(nodeWith([]), machine);
    expect(taintsOf(node)).toEqual([agent.key]);
    expect(taintsOf(synced(without(node, agent), machine))).toEqual([]);
    expect(taintsOf(synced(without(node, agent), joining(agent)))).toEqual([agent.key]);
  });

  it("are those of the kubelet, too: what it registered is recorded, and not put back", () => {
    const node = synced(nodeWith([cni]), joining(cni));
    expect(taintsOf(node)).toEqual([cni.key]);
    expect(taintsOf(synced(without(node, cni), joining(cni)))).toEqual([]);
  });

  it("are set while the driver fails to report the VM, too, whose machine is Running once they are removed", () => {
    const machine = aMachine(joining(cni), inPhase("CrashLoopBackOff"));
    const decided = (node: Node) =>
      decideMachine(
        aSnapshot({ machine, node, operation: failed("create", "Unavailable", { isAcknowledged: true }) }),
        testNow,
      );
    const healthyNode = { ...nodeWith([]), status: { conditions: healthy } };
    expect(decided(healthyNode).actions.at(-1)).toMatchObject({
      kind: "PatchNode",
      patch: { spec: { taints: [cni] } },
    });
    const started = without(synced(healthyNode, machine), cni);
    expect(decided(started).status?.currentStatus?.phase).toBe("Running");
  });

  it("are set again on a node that registers again before its machine has served, and not after", () => {
    expect(taintsOf(synced(nodeWith([]), joining(cni, tier)))).toEqual([cni.key, tier.key]);
    expect(taintsOf(synced(nodeWith([]), served(cni, tier)))).toEqual([tier.key]);
  });

  it("never come onto a node in service: neither with a change of the template, nor when the record is lost", () => {
    const node = synced(nodeWith([]), joining(tier));
    const changed = synced(node, served(tier, cni));
    expect(taintsOf(changed)).toEqual([tier.key]);
    expect(changed.metadata.annotations).toEqual(node.metadata.annotations);
    const { [annotationKeys.lastAppliedNodeTemplate]: _, ...annotations } = node.metadata.annotations ?? {};
    const stripped = { ...node, metadata: { ...node.metadata, annotations } };
    expect(taintsOf(synced(stripped, served(tier, cni)))).toEqual([tier.key]);
  });

  it.each([
    ["MCM or an earlier version set", recording(cni)],
    ["an unreadable record may have", { [annotationKeys.lastAppliedNodeTemplate]: "{" }],
  ])("are not set again where %s", (_, annotations) => {
    const node = synced(nodeWith([], annotations), joining(cni));
    expect(taintsOf(node)).toEqual([]);
    expect(taintsOf(synced(node, joining(cni)))).toEqual([]);
  });

  it("keep the value that their agent sets", () => {
    const failed = { ...cni, value: "failed" };
    const node = nodeWith([failed], recording(cni));
    expect(synced(node, joining(cni)).spec?.taints).toEqual([failed]);
  });

  it("leave the node with the template, which helps where no agent removes them", () => {
    const node = synced(nodeWith([]), joining(cni, tier));
    expect(taintsOf(synced(node, joining(tier)))).toEqual([tier.key]);
  });
});
