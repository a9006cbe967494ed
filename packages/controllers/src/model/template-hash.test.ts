import type { MachineTemplate } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameTemplate, machineSetName, templateHash } from "./template-hash.ts";

const hashLabel = "machine-template-hash";
const template: MachineTemplate = {
  metadata: { labels: { name: "pool" }, annotations: { a: "1" } },
  spec: { class: { kind: "MachineClass", name: "small" }, providerID: "x", drainTimeout: "1h" },
};
const withSpec = (spec: MachineTemplate["spec"]): MachineTemplate => ({
  ...template,
  spec: { ...template.spec, ...spec },
});
const withMeta = (metadata: object): MachineTemplate => ({
  ...template,
  metadata: { ...template.metadata, ...metadata },
});

const someText = fc.constantFrom("a", "b", "");
const someMap = fc.dictionary(fc.constantFrom("a", "x", hashLabel), someText, { maxKeys: 3 });
const someTemplate: fc.Arbitrary<MachineTemplate> = fc.record(
  {
    metadata: fc.record(
      { labels: someMap, annotations: someMap, finalizers: fc.array(someText, { maxLength: 2 }) },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        class: fc.record({ kind: someText, name: someText, apiGroup: someText }, { requiredKeys: ["kind", "name"] }),
        providerID: someText,
        drainTimeout: someText,
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["spec"] },
);

describe("isSameTemplate", () => {
  it.each<[string, MachineTemplate | undefined]>([
    ["the hash label", withMeta({ labels: { name: "pool", [hashLabel]: "1" } })],
    [
      "configuration that is handed down in place",
      withSpec({ drainTimeout: "2h", nodeTemplate: { metadata: { labels: { a: "b" } } } }),
    ],
    ["the kind of the class", withSpec({ class: { kind: "Other", name: "small" } })],
    ["an empty list or map", withMeta({ finalizers: [], ownerReferences: {} })],
    [
      "an empty group of the class, which Go never writes",
      withSpec({ class: { kind: "MachineClass", name: "small", apiGroup: "" } }),
    ],
    ["a creation time that a server put in", withMeta({ creationTimestamp: "2026-01-01T00:00:00Z" })],
  ])("sees no new machines in %s", (_, other) => {
    expect(isSameTemplate(template, other, hashLabel)).toBe(true);
  });

  it.each<[string, MachineTemplate | undefined]>([
    ["the name of the class", withSpec({ class: { kind: "MachineClass", name: "big" } })],
    ["the group of the class", withSpec({ class: { kind: "MachineClass", name: "small", apiGroup: "g" } })],
    ["the provider id", withSpec({ providerID: "y" })],
    ["an added label", withMeta({ labels: { name: "pool", zone: "a" } })],
    ["another label", withMeta({ labels: { name: "else" } })],
    ["an annotation", withMeta({ annotations: { a: "2" } })],
    ["a finalizer", withMeta({ finalizers: ["x"] })],
    ["no template", undefined],
  ])("sees other machines in %s", (_, other) => {
    expect(isSameTemplate(template, other, hashLabel)).toBe(false);
  });

  it("takes no label for the hash label because the sizes match", () => {
    const plain = withMeta({ labels: { a: "1", x: "1" } });
    const hashed = withMeta({ labels: { a: "1", [hashLabel]: "1" } });
    expect(isSameTemplate(plain, hashed, hashLabel)).toBe(false);
    expect(isSameTemplate(hashed, plain, hashLabel)).toBe(false);
  });

  it("is an equivalence", () => {
    fc.assert(
      fc.property(someTemplate, someTemplate, someTemplate, (a, b, c) => {
        const isSame = (left: MachineTemplate, right: MachineTemplate) => isSameTemplate(left, right, hashLabel);
        expect(isSame(a, structuredClone(a))).toBe(true);
        expect(isSame(a, b)).toBe(isSame(b, a));
        expect(isSame(a, b) && isSame(a, c) !== isSame(b, c)).toBe(false);
      }),
    );
  });
});

describe("templateHash", () => {
  it("does not depend on the order of fields", () => {
    const { metadata, spec } = template;
    expect(templateHash({ spec, ...(metadata === undefined ? {} : { metadata }) }, undefined)).toBe(
      templateHash(template, undefined),
    );
  });

  it("is stable, because names of sets are made from it", () => {
    expect(templateHash(template, undefined)).toMatchInlineSnapshot(`"3020831220"`);
    expect(templateHash(undefined, undefined)).toMatchInlineSnapshot(`"1996966820"`);
  });

  it("differs with the template and with each collision", () => {
    const hashes = [undefined, 0, 1, 2].map((count) => templateHash(template, count));
    expect(new Set([...hashes, templateHash(withSpec({ drainTimeout: "2h" }), undefined)]).size).toBe(5);
  });

  it("is a decimal number of 32 bits, and equal for equal templates", () => {
    fc.assert(
      fc.property(someTemplate, fc.option(fc.nat(5), { nil: undefined }), (each, collisions) => {
        const hash = templateHash(each, collisions);
        expect(hash).toMatch(/^\d{1,10}$/);
        expect(Number(hash)).toBeLessThan(2 ** 32);
        expect(templateHash(structuredClone(each), collisions)).toBe(hash);
      }),
    );
  });
});

describe("machineSetName", () => {
  it("is the deployment's with five characters that spell no words", () => {
    expect(machineSetName("pool", "0123456789")).toBe("pool-45678");
    expect(machineSetName("pool", "5678901234")).toBe("pool-9bcdf");
    expect(machineSetName("pool", "12")).toBe("pool-56");
  });
});
