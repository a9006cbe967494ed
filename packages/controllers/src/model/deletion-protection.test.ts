import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  named,
} from "../testing/builders.ts";
import { isProtected, protectedMachinesHold, protectorOf } from "./deletion-protection.ts";

const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
const machineDeletedAt = "2026-01-01T12:00:00Z";

/** What protects a machine that is being deleted. */
const protector = (changes: {
  readonly machine?: Change<ReturnType<typeof aMachine>>;
  readonly set?: Change<ReturnType<typeof aMachineSet>>;
  readonly deployment?: Change<ReturnType<typeof aMachineDeployment>>;
}) =>
  protectorOf(aMachine(beingDeleted(machineDeletedAt), changes.machine ?? {}), {
    set: aMachineSet(changes.set ?? {}),
    deployment: aMachineDeployment(isKept, changes.deployment ?? {}),
  });

describe("protectorOf", () => {
  const deployment = { kind: "MachineDeployment", name: "pool" };

  it("is the machine itself, with or without owners", () => {
    expect(protector({ machine: isKept })).toEqual({ kind: "Machine", name: "machine" });
    expect(protectorOf(aMachine(isKept), { set: undefined, deployment: undefined })).toBeDefined();
  });

  it("is the deployment when the machine is deleted with it, or with one of its sets", () => {
    expect(protector({ deployment: beingDeleted("2026-01-01T11:00:00Z") })).toEqual(deployment);
    expect(protector({ set: beingDeleted("2026-01-01T11:00:00Z") })).toEqual(deployment);
  });

  it("is the deployment when the clocks of two API servers differ", () => {
    expect(protector({ deployment: beingDeleted("2026-01-01T12:01:00Z") })).toEqual(deployment);
  });

  it("is nothing for a machine that its deployment replaces or scales down, also when the deployment is deleted later", () => {
    expect(protector({})).toBeUndefined();
    expect(protector({ deployment: beingDeleted("2026-01-01T12:01:01Z") })).toBeUndefined();
  });

  it.each(["true", "True", "TRUE", "t", "T", "1"])("is the machine where the annotation is %j", (text) => {
    expect(isProtected(aMachine(annotated({ [annotationKeys.deletionProtection]: text })))).toBe(true);
  });

  it("is nothing without the annotation, and with other values of it", () => {
    const off = annotated({ [annotationKeys.deletionProtection]: "false" });
    expect(isProtected(aMachine(off))).toBe(false);
    expect(protector({ deployment: beingDeleted("2026-01-01T11:00:00Z"), machine: off })).toEqual(deployment);
    const owners = { set: aMachineSet(beingDeleted()), deployment: aMachineDeployment(beingDeleted(), off) };
    expect(protectorOf(aMachine(beingDeleted()), owners)).toBeUndefined();
  });
});

it("names at most three machines, sorted", () => {
  const messageOf = (...names: readonly string[]) =>
    protectedMachinesHold(names.map((name) => aMachine(named(name))))?.message;
  expect(messageOf("b", "a")).toContain("machines: a, b. To");
  expect(messageOf("d", "c", "b", "a")).toContain("machines: a, b, c and 1 more. To");
});
