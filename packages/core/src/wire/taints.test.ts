import { expect, it } from "vitest";
import { annotationKeys } from "./annotations.ts";
import { isStartupTaint } from "./taints.ts";

const listing = (text: string) => ({ [annotationKeys.startupTaints]: text });

it.each([
  "node.cloudprovider.kubernetes.io/uninitialized",
  "node.gardener.cloud/critical-components-not-ready",
  "readiness.k8s.io/cni",
  "readiness.k8s.io/example.com-gpu",
  "startup-taint.cluster-autoscaler.kubernetes.io/x",
])("knows %s", (key) => {
  expect(isStartupTaint({ key }, undefined)).toBe(true);
});

it.each(["tier", "readiness.k8s.io", "other-readiness.k8s.io/cni", "ignore-taint.cluster-autoscaler.kubernetes.io/x"])(
  "knows no %s, unless the machine lists it",
  (key) => {
    expect(isStartupTaint({ key }, {})).toBe(false);
    expect(isStartupTaint({ key }, listing("a,b"))).toBe(false);
    expect(isStartupTaint({ key }, listing(`a, ${key}`))).toBe(true);
  },
);
