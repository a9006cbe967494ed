import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, named, refOf, testNamespace } from "../testing/builders.ts";
import { setUp } from "../testing/machine-process.ts";

const MINUTE = 60_000;
const data = { userData: Buffer.from("#cloud-config").toString("base64") };

/** Controllers of machines of several classes, each with a Secret of its own unless `secret` names another. */
async function begin(counts: Readonly<Record<string, number>>, secret?: string) {
  const process = setUp({ hasTarget: false });
  const { api, driver } = process;
  const seeded = new Set<string>();
  for (const [name, count] of Object.entries(counts)) {
    const secretName = secret ?? name;
    const secretRef = { name: secretName, namespace: testNamespace };
    if (name !== "small") api.seed(machineClassResource, aMachineClass(named(name), { secretRef }));
    if (secretName !== "small" && !seeded.has(secretName))
      api.seed(secretResource, { metadata: refOf(secretName), data });
    seeded.add(secretName);
    for (let index = 0; index < count; index++)
      api.seed(machineResource, aMachine(named(`${name}-${index}`), { spec: { class: { name } } }));
  }
  const ofClass =
    (name: string) =>
    ({ spec }: Machine) =>
      spec.class?.name === name;
  const machinesOf = (name: string): readonly Machine[] => api.all<Machine>(machineResource).filter(ofClass(name));
  return {
    ...process,
    ofClass,
    machinesOf,
    /** How many machines of a class have a VM. */
    created: (name: string) => machinesOf(name).filter(({ spec }) => (spec.providerID ?? "") !== "").length,
    calls: (name: string) => driver.calls.filter((call) => call.includes(` ${name}-`)).length,
  };
}

describe("a credential that is refused", () => {
  it("costs a bounded number of calls, whatever the number of machines, and machines with others are created", async () => {
    const { clock, driver, start, ofClass, created, calls, machinesOf } = await begin({ small: 200, other: 20 });
    driver.faults.push({ method: "ensureVm", code: "Unauthenticated", times: 1e6, after: false, of: ofClass("small") });
    await start();
    await clock.advance(5_000);
    expect(created("other")).toBe(20);
    // Those that began together, before the first failed.
    expect(calls("small")).toBeLessThanOrEqual(20);
    await clock.advance(10 * MINUTE);
    expect(calls("small")).toBeLessThanOrEqual(30);
    expect(calls("other")).toBe(20);
    const texts = machinesOf("small").map(({ status }) => status?.lastOperation?.description ?? "");
    expect(
      texts.filter((text) => /Waiting: Secret "small" of driver "mock" is refused since 2026/.test(text)).length,
    ).toBeGreaterThan(150);
    driver.faults.length = 0;
    await clock.advance(8 * MINUTE);
    expect(created("small")).toBe(200);
  });

  it("is retried at once when its Secret changes", async () => {
    const { api, clock, driver, start, created, calls } = await begin({ small: 50 });
    driver.fail("ensureVm", "Unauthenticated", 1e6);
    await start();
    await clock.advance(8 * MINUTE);
    const before = calls("small");
    driver.faults.length = 0;
    await api.patch(secretResource, refOf("small"), { data: { key: "bmV3" } }, { kind: "merge" });
    await clock.advance(2_000);
    expect(created("small")).toBe(50);
    expect(calls("small") - before).toBe(50);
  });

  it("holds back deletions, too, which come before creations once it is accepted", async () => {
    const { api, clock, driver, start, created, calls, machinesOf } = await begin({ small: 60, other: 5 });
    await start();
    await clock.advance(2_000);
    expect(created("small")).toBe(60);
    driver.faults.push({
      method: "deleteVm",
      code: "Unauthenticated",
      times: 1e6,
      after: false,
      of: ({ metadata }) => metadata.name.startsWith("small"),
    });
    const before = calls("small");
    for (const { metadata } of [...machinesOf("small"), ...machinesOf("other")])
      await api.delete(machineResource, refOf(metadata.name));
    await clock.advance(10 * MINUTE);
    expect(machinesOf("other")).toEqual([]);
    // The first ones began together.
    expect(calls("small") - before).toBeLessThanOrEqual(60 + 10);
    const later = calls("small");
    await clock.advance(10 * MINUTE);
    expect(calls("small") - later).toBeLessThanOrEqual(4);
    driver.faults.length = 0;
    await clock.advance(8 * MINUTE);
    expect(machinesOf("small")).toEqual([]);
  });
});

describe("a class that lacks a permission", () => {
  it("is held back, and another class with the same credential is not", async () => {
    const { clock, driver, start, ofClass, created, calls } = await begin({ a: 100, b: 20 }, "cloud");
    driver.faults.push({ method: "ensureVm", code: "PermissionDenied", times: 1e6, after: false, of: ofClass("a") });
    await start();
    await clock.advance(10 * MINUTE);
    expect(created("b")).toBe(20);
    expect(calls("a")).toBeLessThanOrEqual(40);
  });
});

describe("a cloud that throttles", () => {
  it("gets one call at a time, and clouds of other drivers or credentials are not affected", async () => {
    const { clock, driver, start, ofClass, created, calls } = await begin({ small: 100, other: 20 });
    driver.faults.push({ method: "ensureVm", code: "Unavailable", times: 1e6, after: false, of: ofClass("small") });
    await start();
    await clock.advance(5 * MINUTE);
    expect(created("other")).toBe(20);
    expect(calls("small")).toBeLessThanOrEqual(40);
    driver.faults.length = 0;
    await clock.advance(3 * MINUTE);
    expect(created("small")).toBe(100);
  });
});

describe("calls that hang", () => {
  it("of many classes do not keep another class from its VMs", async () => {
    const hanging: Readonly<Record<string, number>> = { a: 30, b: 30, c: 30, d: 30, e: 30, f: 30 };
    const { clock, driver, start, ofClass, created } = await begin({ ...hanging, other: 20 });
    const release = driver.hold((machine) => !ofClass("other")(machine));
    await start();
    await clock.advance(5_000);
    expect(created("other")).toBe(20);
    release();
  });
});

describe("a zone without capacity", () => {
  it("does not hold back another zone of the same credential", async () => {
    const { clock, driver, start, ofClass, created, calls } = await begin({ a: 50, b: 20 }, "cloud");
    driver.faults.push({ method: "ensureVm", code: "ResourceExhausted", times: 1e6, after: false, of: ofClass("a") });
    await start();
    await clock.advance(2_000);
    expect(created("b")).toBe(20);
    expect(calls("a")).toBeLessThanOrEqual(20);
  });
});
