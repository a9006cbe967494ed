import { describe, expect, test } from "vitest";
import type { Pod } from "../cluster/node-objects.ts";
import { judgePod } from "./pod-filter.ts";

const ownedBy = (kind: string, controller = true) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "o", uid: "o", controller }],
});
const pod = (metadata: Partial<Pod["metadata"]>, phase?: string): Pod => ({
  metadata: { name: "p", ...metadata },
  ...(phase === undefined ? {} : { status: { phase } }),
});
const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("a drain", () => {
  test.each([
    ["evicts a pod without controller", pod({}), "evict", undefined],
    ["evicts a running pod of a ReplicaSet", pod(ownedBy("ReplicaSet"), "Running"), "evict", undefined],
    ["evicts a pod that a DaemonSet owns without controlling it", pod(ownedBy("DaemonSet", false)), "evict", undefined],
    [
      "leaves a mirror pod, even an empty mark",
      pod({ annotations: { "kubernetes.io/config.mirror": "" } }),
      "skip",
      "mirror",
    ],
    ["leaves a pod of a DaemonSet", pod(ownedBy("DaemonSet")), "skip", "DaemonSet"],
    [
      "leaves a terminating pod of a DaemonSet",
      pod({ ...ownedBy("DaemonSet"), deletionTimestamp }),
      "skip",
      "DaemonSet",
    ],
    ["leaves a pod that succeeded", pod({}, "Succeeded"), "skip", "completed"],
    ["leaves a pod that failed", pod({}, "Failed"), "skip", "completed"],
    ["waits for a terminating pod", pod({ deletionTimestamp }, "Running"), "wait", "terminating"],
  ] as const)("%s", (_, subject, behaviour, reason) => {
    expect(judgePod(subject)).toEqual({ behaviour, ...(reason === undefined ? {} : { reason }) });
  });
});
