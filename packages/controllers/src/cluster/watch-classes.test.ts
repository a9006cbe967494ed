import { describe, expect, it } from "vitest";
import type { SecretObject } from "../model/node-objects.ts";
import { aMachineClass } from "../testing/builders.ts";
import { isClassChange, isSecretChange } from "./watch-classes.ts";

describe("what enqueues the machines of a class", () => {
  const small = aMachineClass({ metadata: { resourceVersion: "10" } });
  const held = aMachineClass(small, { metadata: { finalizers: ["x"], resourceVersion: "11" } });
  const booting: SecretObject = { metadata: { name: "small", uid: "uid-small", resourceVersion: "11" }, digest: "old" };
  it.each([
    ["a new class", undefined, small, true],
    ["a deleted class", small, undefined, true],
    ["another node template", small, aMachineClass(small, { providerSpec: { size: 2 } }), true],
    [
      "an annotation, which may hold rules of a drain",
      small,
      aMachineClass(small, { metadata: { annotations: { a: "b" } } }),
      true,
    ],
    ["nothing that is the same", small, small, false],
    ["no finalizer", small, held, false],
  ])("is %s", (_, old, current, expected) => {
    expect(isClassChange(old, current)).toBe(expected);
  });

  it.each([
    ["a new secret", undefined, booting, true],
    ["a deleted secret", booting, undefined, true],
    ["other data", booting, { ...booting, digest: "other" }, true],
    [
      "no other version of the same data",
      booting,
      { ...booting, metadata: { ...booting.metadata, finalizers: ["x"], resourceVersion: "12" } },
      false,
    ],
  ])("is %s", (_, old, current, expected) => {
    expect(isSecretChange(old, current)).toBe(expected);
  });
});
