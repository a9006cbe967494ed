import { describe, expect, it } from "vitest";
import { trimNode } from "./trim-node.ts";

describe("trimNode", () => {
  it("keeps all but the images and what a store never keeps", () => {
    const node = {
      metadata: { name: "node", labels: { zone: "a" } },
      spec: { providerID: "mock:///1", unschedulable: true },
      status: { conditions: [{ type: "Ready", status: "True" as const }], capacity: { cpu: "8" } },
    };
    const whole = {
      ...node,
      metadata: { ...node.metadata, managedFields: [{ manager: "kubelet" }] },
      status: { ...node.status, images: [{ names: ["web:1"], sizeBytes: 1 }] },
    };
    expect(trimNode(whole)).toEqual(node);
    expect(whole.status.images).toHaveLength(1);
  });

  it("returns a node without unused fields unchanged", () => {
    const bare = { metadata: { name: "node" } };
    expect(trimNode(bare)).toBe(bare);
  });
});
