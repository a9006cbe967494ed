import type { Driver } from "@millwright/core";
import { describe, expect, it, vi } from "vitest";
import { aCall, host, machineClass, nodeTemplate, secret, token, unaborted, wild } from "../testing/hosted-driver.ts";

describe("drift", () => {
  const difference = { field: "size", wanted: "1", found: "2" };

  it("is what the driver found, without secrets", async () => {
    const { findDrift } = host({
      findDrift: async () => ({
        providerId: "vm-1",
        differences: [difference, { ...difference, found: `is ${token}` }],
      }),
    });
    expect(await findDrift(aCall(), unaborted)).toMatchObject({
      ok: true,
      value: { providerId: "vm-1", differences: [difference, { found: expect.not.stringContaining(token) }] },
    });
  });

  it.each([
    [undefined, "without a providerId"],
    [{ providerId: "", differences: [] }, "without a providerId"],
    [{ providerId: "vm-1" }, "without a list of differences"],
    [{ providerId: "vm-1", differences: [null] }, "a difference without field"],
    [{ providerId: "vm-1", differences: [{ ...difference, found: 2 }] }, "a difference without field"],
  ])("is unknown when the driver answers %j", async (reply, message) => {
    const { findDrift } = host({ findDrift: wild(reply) });
    expect(await findDrift(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "Internal", message: expect.stringContaining(message) },
    });
  });

  it("is Unimplemented when the driver does not support it", async () => {
    expect(await host().findDrift(aCall(), unaborted)).toMatchObject({ ok: false, error: { code: "Unimplemented" } });
  });
});

describe("capacity", () => {
  const classCall = { machineClass, secret };

  it("is asked with the class and its secret, and without a machine", async () => {
    const getNodeTemplate = vi.fn<NonNullable<Driver["getNodeTemplate"]>>(async () => ({ nodeTemplate }));
    const { capacityOf, reportsCapacity } = host({ getNodeTemplate });
    expect(reportsCapacity(machineClass)).toBe(true);
    expect(await capacityOf(classCall, unaborted)).toEqual({ ok: true, value: nodeTemplate });
    expect(getNodeTemplate.mock.calls[0]?.[0]).toEqual({ machineClass: { name: "small", spec: { size: 1 } }, secret });
  });

  it.each([
    [undefined, "without a nodeTemplate"],
    [{ nodeTemplate: { ...nodeTemplate, zone: "" } }, "nodeTemplate.zone"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: 1, memory: "1Gi" } } }, "nodeTemplate.capacity.gpu"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: {}, gpu: 0, memory: "1Gi" } } }, "nodeTemplate.capacity.cpu"],
    [{ nodeTemplate: { ...nodeTemplate, capacity: { cpu: -1, gpu: 0, memory: "1Gi" } } }, "nodeTemplate.capacity.cpu"],
  ])("is refused when a class with it could make no machines: %j", async (reply, message) => {
    const { capacityOf } = host({ getNodeTemplate: wild(reply) });
    expect(await capacityOf(classCall, unaborted)).toMatchObject({
      ok: false,
      error: { code: "Internal", message: expect.stringContaining(message) },
    });
  });

  it("is Unimplemented when the driver does not support it", async () => {
    const { capacityOf, reportsCapacity } = host();
    expect(reportsCapacity(machineClass)).toBe(false);
    expect(reportsCapacity({ ...machineClass, provider: "unknown" })).toBe(false);
    expect(await capacityOf(classCall, unaborted)).toMatchObject({ ok: false, error: { code: "Unimplemented" } });
  });
});
