import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, named } from "../testing/builders.ts";
import { intentAnnotation, intentFor, isStored, readIntent } from "./creation-intent.ts";

const withText = (text: string) => aMachine(annotated({ [annotationKeys.creationIntent]: text }));
const plain = { wantsToken: false };

describe("the intent of a creation", () => {
  it("is read as it was written", () => {
    const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "z" };
    const providerSpec = { region: "r", resourceGroup: "g", machineType: "s" };
    const machineClass = aMachineClass({ nodeTemplate, credentialsSecretRef: { name: "cloud" }, providerSpec });
    const intent = intentFor(aMachine(), machineClass, { wantsToken: true });
    expect(intent.place).toEqual({ region: "r", resourceGroup: "g" });
    const stored = aMachine(annotated(intentAnnotation(intent)));
    expect(readIntent(stored)).toEqual(intent);
    expect([isStored(stored, intent), isStored(aMachine(), intent)]).toEqual([true, false]);
    const stale = aMachine(annotated(intentAnnotation({ ...intent, staleNode: "n" })));
    expect(readIntent(stale)?.staleNode).toBe("n");
  });

  it("holds nothing of what the class does not have", () => {
    const machineClass = aMachineClass({ provider: null, secretRef: null });
    const intent = intentFor(aMachine(), machineClass, plain);
    expect(intent).toEqual({ token: "uid-machine-1", attempt: 1, class: "small", provider: "" });
    expect(readIntent(aMachine(annotated(intentAnnotation(intent))))).toEqual(intent);
  });

  it("counts on when a token is spent", () => {
    const first = aMachine(annotated(intentAnnotation(intentFor(aMachine(), aMachineClass(), plain))));
    expect(intentFor(first, aMachineClass(), plain).token).toBe("uid-machine-1");
    expect(intentFor(first, aMachineClass(), { ...plain, isSpent: true })).toMatchObject({
      token: "uid-machine-2",
      attempt: 2,
    });
  });

  it.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["null", "null"],
    ["no attempt", '{"class":"small"}'],
    ["an odd attempt", '{"class":"small","attempt":1.5}'],
    ["no class", '{"attempt":1}'],
    ["a text as long as a book", JSON.stringify({ attempt: 1, class: "x".repeat(10_000) })],
  ])("is none when it is %s", (_, text) => {
    expect(readIntent(withText(text))).toBeUndefined();
  });

  it("takes no token of another machine from an annotation that was copied", () => {
    const intent = intentFor(aMachine(named("a")), aMachineClass(), plain);
    expect(readIntent(aMachine(named("b"), annotated(intentAnnotation(intent))))?.token).toBe("uid-b-1");
  });

  it("has a token that fits the contract whatever the UID", () => {
    const long = aMachine({ metadata: { uid: "x".repeat(200) } });
    expect(intentFor(long, aMachineClass(), plain).token).toMatch(/^[A-Za-z0-9-]{1,64}$/);
    const { uid: _, ...metadata } = aMachine().metadata;
    expect(intentFor({ ...aMachine(), metadata }, aMachineClass(), plain).token).toBe("-1");
  });
});
