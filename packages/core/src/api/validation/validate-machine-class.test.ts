import { describe, expect, it } from "vitest";
import type { MachineClass } from "../kinds/machine-class.ts";
import { validateMachineClass } from "./validate-machine-class.ts";

const good: MachineClass = {
  metadata: { name: "c", namespace: "shoot" },
  provider: "mock",
  providerSpec: {},
  secretRef: { name: "s", namespace: "shoot" },
};

const nodeTemplate = {
  capacity: { cpu: 4, gpu: "0", memory: "16Gi" },
  instanceType: "m5.large",
  region: "eu-1",
  zone: "eu-1a",
};

describe("validateMachineClass", () => {
  it("accepts a class without node template, and one with a complete one", () => {
    expect(validateMachineClass(good)).toEqual([]);
    expect(validateMachineClass({ ...good, nodeTemplate })).toEqual([]);
  });

  it("requires a provider", () => {
    const { provider: _, ...rest } = good;
    expect(validateMachineClass(rest)).toMatchObject([{ path: "provider", kind: "required" }]);
    expect(validateMachineClass({ ...good, provider: "" })).toMatchObject([{ path: "provider" }]);
  });

  it("requires a Secret, in either of the two places", () => {
    const { secretRef, ...rest } = good;
    expect(validateMachineClass(rest)).toMatchObject([{ path: "secretRef", kind: "required" }]);
    expect(validateMachineClass({ ...rest, credentialsSecretRef: secretRef ?? {} })).toEqual([]);
    expect(validateMachineClass({ ...good, secretRef: {} })).toMatchObject([{ path: "secretRef.name" }]);
  });

  it("refuses a Secret of another namespace, which is never read", () => {
    expect(validateMachineClass({ ...good, credentialsSecretRef: { name: "s", namespace: "other" } })).toEqual([
      {
        path: "credentialsSecretRef.namespace",
        message: 'must be the namespace of the class, shoot, is "other"',
        kind: "invalid",
      },
    ]);
  });

  it.each(["cpu", "gpu", "memory"])("requires %s in the capacity of a node template", (resource) => {
    const others = Object.entries(nodeTemplate.capacity).filter(([name]) => name !== resource);
    const capacity = Object.fromEntries(others);
    expect(validateMachineClass({ ...good, nodeTemplate: { ...nodeTemplate, capacity } })).toMatchObject([
      { path: `nodeTemplate.capacity.${resource}`, kind: "required" },
    ]);
  });

  it.each(["instanceType", "region", "zone"])("refuses an empty %s in a node template", (field) => {
    expect(validateMachineClass({ ...good, nodeTemplate: { ...nodeTemplate, [field]: "" } })).toMatchObject([
      { path: `nodeTemplate.${field}`, kind: "required" },
    ]);
  });

  it("refuses amounts that are no quantities of zero or more", () => {
    const virtualCapacity = { "a.b/c": "-1", ok: "1e3", "too-long": "1".repeat(1000), words: "4 cores" };
    expect(
      validateMachineClass({ ...good, nodeTemplate: { ...nodeTemplate, virtualCapacity } }).map(({ path }) => path),
    ).toEqual([
      "nodeTemplate.virtualCapacity[a.b/c]",
      "nodeTemplate.virtualCapacity.too-long",
      "nodeTemplate.virtualCapacity.words",
    ]);
  });
});
