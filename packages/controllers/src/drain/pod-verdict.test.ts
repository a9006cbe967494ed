import type { DrainRule } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Pod } from "../model/node-objects.ts";
import { aPod } from "../testing/drain-objects.ts";
import { judgePod } from "./pod-verdict.ts";

const now = new Date("2026-01-01T00:00:00Z");

const ownedBy = (kind: string, controller = true) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "o", uid: "o", controller }],
});
const unowned = { ownerReferences: [] };
const mirror = { annotations: { "kubernetes.io/config.mirror": "" } };
const terminating = { deletionTimestamp: "2026-01-01T00:00:10Z" };
const labeled = (value: string) => ({ labels: { app: "web", "cluster.x-k8s.io/drain": value } });
const rule = (change: Partial<DrainRule>): DrainRule => ({ behavior: "Drain", order: 0, ...change });

const cordon = { taint: "node.kubernetes.io/unschedulable", since: now.getTime() } as const;
const returned = {
  metadata: { creationTimestamp: "2026-01-01T00:00:01Z" },
  spec: { tolerations: [{ operator: "Exists" }] },
};
const textOf = (pod: Pod, rules: readonly DrainRule[] = []): string => {
  const verdict = judgePod(pod, rules, cordon, now);
  return `${verdict.behavior} ${verdict.reason}${verdict.behavior === "skip" || verdict.order === 0 ? "" : ` ${verdict.order}`}`;
};

describe("a drain", () => {
  it.each([
    ["evicts a pod of a ReplicaSet", aPod(), "evict managed"],
    ["leaves a pod that was created after the cordon and tolerates it", aPod("p", returned), "skip returned"],
    [
      "evicts a pod that was created after the cordon and does not tolerate it",
      aPod("p", { metadata: returned.metadata }),
      "evict managed",
    ],
    [
      "evicts a pod that was there before the cordon and tolerates it",
      aPod("p", { spec: returned.spec }),
      "evict managed",
    ],
    [
      "waits for the completion of a pod with that label, also when it tolerates the cordon",
      aPod("p", { ...returned, metadata: { ...returned.metadata, ...labeled("wait-completed") } }),
      "wait waitCompleted",
    ],
    ["evicts a pod without controller", aPod("p", { metadata: unowned }), "evict unmanaged"],
    [
      "evicts a pod with local storage, which is lost",
      aPod("p", { spec: { volumes: [{ name: "tmp", emptyDir: {} }] } }),
      "evict localStorage",
    ],
    [
      "evicts a pod that a DaemonSet owns without controlling it",
      aPod("p", { metadata: ownedBy("DaemonSet", false) }),
      "evict unmanaged",
    ],
    ["leaves a mirror pod, even with an empty mark", aPod("p", { metadata: mirror }), "skip mirror"],
    ["leaves a pod of a DaemonSet", aPod("p", { metadata: ownedBy("DaemonSet") }), "skip DaemonSet"],
    [
      "evicts a pod whose DaemonSet was deleted: it has no owner",
      aPod("p", { metadata: { ...unowned, labels: { "controller-revision-hash": "5d8f" } } }),
      "evict unmanaged",
    ],
    [
      "leaves a terminating pod of a DaemonSet",
      aPod("p", { metadata: { ...ownedBy("DaemonSet"), ...terminating } }),
      "skip DaemonSet",
    ],
    ["leaves a pod that succeeded", aPod("p", { status: { phase: "Succeeded" } }), "skip completed"],
    ["leaves a pod that failed", aPod("p", { status: { phase: "Failed" } }), "skip completed"],
    ["waits for a pod in its grace period", aPod("p", { metadata: terminating }), "wait terminating"],
    [
      "waits for an overdue pod, and reports it",
      aPod("p", { metadata: { deletionTimestamp: "2025-12-31T23:59:29Z" } }),
      "wait overdue",
    ],
    [
      "gives a pod half a minute after its grace period",
      aPod("p", { metadata: { deletionTimestamp: "2025-12-31T23:59:30Z" } }),
      "wait terminating",
    ],
    ["skips a pod with that label", aPod("p", { metadata: labeled("skip") }), "skip label"],
    ["waits for a job with that label", aPod("p", { metadata: labeled("wait-completed") }), "wait waitCompleted"],
    ["does not know other values of the label", aPod("p", { metadata: labeled("later") }), "evict managed"],
  ] as const)("%s", (_, pod, expected) => {
    expect(textOf(pod)).toBe(expected);
  });
});

describe("the rules of a drain", () => {
  it.each([
    ["skip the pods they select", [rule({ behavior: "Skip" })], "skip rule"],
    ["wait for the pods they select", [rule({ behavior: "WaitCompleted", order: 3 })], "wait waitCompleted 3"],
    ["put pods in an order", [rule({ order: -2 })], "evict managed -2"],
    ["count the first that selects the pod", [rule({ order: 1 }), rule({ behavior: "Skip" })], "evict managed 1"],
    [
      "hold for the pods that they select",
      [rule({ selector: { matchLabels: { app: "db" } }, behavior: "Skip" }), rule({ order: 2 })],
      "evict managed 2",
    ],
    [
      "hold for their namespaces",
      [rule({ namespaces: ["kube-system"], behavior: "Skip" }), rule({ namespaces: ["default"], order: 4 })],
      "evict managed 4",
    ],
  ] as const)("%s", (_, rules, expected) => {
    expect(textOf(aPod(), rules)).toBe(expected);
  });

  it("give way to the pod's own label, but for the order", () => {
    const rules = [rule({ behavior: "Skip", order: 7 })];
    expect(textOf(aPod("p", { metadata: labeled("wait-completed") }), rules)).toBe("wait waitCompleted 7");
  });

  it("cannot make a drain evict pods that are recreated on the node", () => {
    expect(textOf(aPod("p", { metadata: ownedBy("DaemonSet") }), [rule({})])).toBe("skip DaemonSet");
  });
});
