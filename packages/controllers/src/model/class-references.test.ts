import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, testNamespace } from "../testing/builders.ts";
import { classNamesOf, secretNamesOf } from "./class-references.ts";

const intent = (name: string) =>
  annotated({
    "machine.millwright.dev/creation-intent": JSON.stringify({ token: "t", attempt: 1, class: name, provider: "mock" }),
  });

describe("classNamesOf", () => {
  it.each([
    ["the one in the spec", aMachine(), ["small"]],
    ["none", aMachine({ spec: { class: null } }), []],
    ["the one that the VM was created with as well", aMachine(intent("old")), ["small", "old"]],
    ["one, once", aMachine(intent("small")), ["small"]],
  ])("names %s", (_, machine, expected) => {
    expect(classNamesOf(machine)).toEqual(expected);
  });
});

describe("secretNamesOf", () => {
  const user = { name: "user", namespace: testNamespace };
  const cloud = { name: "cloud", namespace: testNamespace };
  it.each([
    ["both references, credentials last", { secretRef: user, credentialsSecretRef: cloud }, ["user", "cloud"]],
    // A class may have credentials only.
    ["credentials alone", { secretRef: null, credentialsSecretRef: cloud }, ["cloud"]],
    ["a reference without namespace", { secretRef: { name: "user", namespace: null } }, ["user"]],
    ["nothing of another namespace, from which nothing is ever read", { secretRef: { ...user, namespace: "b" } }, []],
    ["nothing for a reference without name", { secretRef: { name: null } }, []],
    ["nothing without references", { secretRef: null }, []],
  ])("names %s", (_, change, expected) => {
    expect(secretNamesOf(aMachineClass(change))).toEqual(expected);
  });
});
