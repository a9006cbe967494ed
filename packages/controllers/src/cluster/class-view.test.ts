import { annotationKeys, type MachineClass, readMachineClass } from "@millwright/core/machine-api";
import { createStore } from "@millwright/kube";
import { describe, expect, it, test } from "vitest";
import type { ControlCaches } from "./caches.ts";
import type { SecretObject } from "../model/node-objects.ts";
import { readInto } from "./readable.ts";
import { aMachine, aMachineClass, testNamespace } from "../testing/builders.ts";
import { resolveClass } from "./class-view.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const aSecret = (name: string, data: Readonly<Record<string, string>>, resourceVersion = "1"): SecretObject => ({
  metadata: { name, namespace: testNamespace, uid: `uid-${name}`, resourceVersion },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  digest: JSON.stringify(data),
});
const small = aMachineClass({ metadata: { resourceVersion: "10" } });
const booting = aSecret("small", { userData: "#cloud-config", key: "old" }, "11");

/** What is found for a machine of class `small`. */
function resolve(
  classes: readonly MachineClass[],
  secrets: readonly SecretObject[],
  options: {
    readonly rejection?: string;
    readonly unread?: string;
    readonly machine?: ReturnType<typeof aMachine>;
  } = {},
) {
  const trim = readInto(readMachineClass, (metadata): MachineClass => ({ metadata, providerSpec: {} }));
  const classStore = createStore<MachineClass>({ trim });
  for (const each of classes) classStore.applyEvent(each);
  const secretStore = createStore<SecretObject>();
  for (const each of secrets) secretStore.applyEvent(each);
  const valuesOf = (name: string) =>
    name === options.unread ? undefined : secrets.find(({ metadata }) => metadata.name === name)?.data;
  const caches = {
    classes: { store: classStore },
    secrets: { store: secretStore, valuesOf },
  } as unknown as ControlCaches;
  return resolveClass(options.machine ?? aMachine(), caches, testNamespace, { missingDriver: () => options.rejection });
}

describe("resolveClass", () => {
  it("finds class and secret, whose values do not print", () => {
    const { view, secret } = resolve([small], [booting]);
    expect(view).toMatchObject({ state: "usable", machineClass: { metadata: { name: "small" } } });
    expect(view).not.toHaveProperty("unmetPrecondition");
    expect(secret["userData"]?.reveal()).toBe("#cloud-config");
    expect(JSON.stringify(secret)).not.toContain("cloud-config");
  });

  it("lays the credentials over the other secret", () => {
    const machineClass = aMachineClass(small, {
      credentialsSecretRef: { name: "cloud", namespace: testNamespace },
    });
    const { secret } = resolve([machineClass], [booting, aSecret("cloud", { key: "new", more: "x" }, "12")]);
    expect(Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, value.reveal()]))).toEqual({
      userData: "#cloud-config",
      key: "new",
      more: "x",
    });
  });

  it("names the secrets that have to be read first", () => {
    const machineClass = aMachineClass(small, { credentialsSecretRef: { name: "cloud" } });
    const secrets = [booting, aSecret("cloud", { key: "new" })];
    expect(resolve([machineClass], secrets).unread).toEqual([]);
    const { unread, view } = resolve([machineClass], secrets, { unread: "cloud" });
    expect([unread, view.state]).toEqual([["cloud"], "unusable"]);
  });

  it("keeps a key of a secret away from every prototype", () => {
    const { secret } = resolve([small], [aSecret("small", JSON.parse('{"__proto__":"x","userData":"y"}'))]);
    expect(Object.keys(secret).toSorted()).toEqual(["__proto__", "userData"]);
    expect(Object.getPrototypeOf(secret)).toBe(Object.prototype);
  });

  test.each([
    [
      "the class is missing",
      () => resolve([], []),
      "MachineClassNotFound",
      'spec.class.name: MachineClass "small" does not exist in namespace shoot--test; create it, or reference an existing one',
    ],
    [
      "the machine names none",
      () => resolve([small], [booting], { machine: aMachine({ spec: { class: null } }) }),
      "MachineClassNotFound",
      'spec.class.name: MachineClass "" does not exist in namespace shoot--test; create it, or reference an existing one',
    ],
    [
      "the class is not valid",
      () => resolve([aMachineClass(small, { provider: null })], [booting]),
      "InvalidMachineClass",
      'MachineClass "small": provider: is required: the name of the driver that creates the machines',
    ],
    [
      "no driver creates its machines",
      () => resolve([small], [booting], { rejection: 'provider: no driver "mock" is loaded; expected "aws"' }),
      "DriverNotFound",
      'MachineClass "small": provider: no driver "mock" is loaded; expected "aws"',
    ],
    [
      "its secret is missing",
      () => resolve([small], []),
      "SecretNotFound",
      'MachineClass "small": Secret "small" does not exist in namespace shoot--test',
    ],
  ])("reports in one sentence that %s", (_, run, reason, problem) => {
    expect(run().view).toEqual({
      state: "unusable",
      reason,
      problem,
      isMissing: reason === "MachineClassNotFound",
    });
  });

  it("reports a class whose shape cannot be read, and uses none of its fields", () => {
    const broken = { ...small, providerSpec: 3 } as unknown as MachineClass;
    expect(resolve([broken], [booting]).view).toMatchObject({
      state: "unusable",
      reason: "InvalidMachineClass",
      problem: expect.stringContaining("providerSpec"),
    });
  });

  it("allows the deletion of machines, but not the creation, with an invalid node template", () => {
    const nodeTemplate = { capacity: {}, instanceType: "", region: "r", zone: "z" };
    expect(resolve([{ ...small, nodeTemplate }], [booting]).view).toMatchObject({
      state: "usable",
      unmetPrecondition: {
        reason: "InvalidMachineClass",
        problem: expect.stringContaining("nodeTemplate.capacity.cpu"),
      },
    });
  });

  it.each([
    ["no such key", { key: "x" }],
    ["no data at all", {}],
  ])("allows the deletion of machines, but not the creation, with a secret that has %s", (_, data) => {
    expect(resolve([small], [aSecret("small", data)]).view).toMatchObject({
      state: "usable",
      unmetPrecondition: {
        reason: "InvalidSecret",
        problem: 'MachineClass "small": key "userData" is missing in Secret "small"; machines cannot boot without it',
      },
    });
    const bare = { metadata: { name: "small", namespace: testNamespace, uid: "s", resourceVersion: "1" }, data: {} };
    expect(resolve([small], [bare]).view).toHaveProperty("unmetPrecondition");
  });

  describe("with a secret of its own for the credentials", () => {
    const machineClass = aMachineClass(small, { credentialsSecretRef: { name: "cloud", namespace: testNamespace } });
    const cloud = aSecret("cloud", { key: "new" });
    const doesNotExist = (name: string) =>
      `MachineClass "small": Secret "${name}" does not exist in namespace shoot--test`;

    it("allows the deletion of machines, but not the creation, without the one that has the user data", () => {
      const { view, secret, unread } = resolve([machineClass], [cloud]);
      const unmetPrecondition = { reason: "SecretNotFound", problem: doesNotExist("small") };
      expect(view).toMatchObject({ state: "usable", unmetPrecondition });
      expect([Object.keys(secret), unread]).toEqual([["key"], []]);
    });

    it("reads the credentials first also without the other one", () => {
      const { view, unread } = resolve([machineClass], [cloud], { unread: "cloud" });
      expect([view.state, unread]).toEqual(["unusable", ["cloud"]]);
    });

    it("does not use the class without the credentials", () => {
      expect(resolve([machineClass], [booting]).view).toMatchObject({
        state: "unusable",
        reason: "SecretNotFound",
        problem: doesNotExist("cloud"),
      });
      expect(resolve([machineClass], []).view).toMatchObject({ state: "unusable", problem: doesNotExist("small") });
    });
  });

  it("changes its inputs when class or secret are created, changed or deleted", () => {
    const versions = [
      resolve([small], [booting]).inputs,
      resolve([aMachineClass(small, { providerSpec: { size: 2 } })], [booting]).inputs,
      resolve([aMachineClass(small, { metadata: { uid: "another" } })], [booting]).inputs,
      resolve([small], [aSecret("small", { userData: "x" }, "11")]).inputs,
      resolve([small], []).inputs,
      resolve([], []).inputs,
    ];
    expect(new Set(versions).size).toBe(versions.length);
  });

  const nodeTemplate = { capacity: { cpu: "1", memory: "1Gi" }, instanceType: "", region: "r", zone: "z" };
  it.each([
    ["a finalizer of the class", { metadata: { finalizers: ["x"], resourceVersion: "20" } }, {}],
    [
      "a capacity that was filled in",
      { nodeTemplate, metadata: { annotations: { [annotationKeys.filledNodeTemplate]: "{}" } } },
      {},
    ],
    ["a record of VMs without Machine", { metadata: { annotations: { [annotationKeys.orphanVms]: "{}" } } }, {}],
    ["a finalizer of the secret", {}, { finalizers: ["x"], resourceVersion: "21" }],
  ])("keeps its inputs after %s, or a failed call would be repeated at once", (_, ofClass, ofSecret) => {
    const secret = { ...booting, metadata: { ...booting.metadata, ...ofSecret } };
    expect(resolve([aMachineClass(small, ofClass)], [secret]).inputs).toBe(resolve([small], [booting]).inputs);
  });
});
