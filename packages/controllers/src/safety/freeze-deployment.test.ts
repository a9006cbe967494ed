import { annotationKeys, labelKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, annotated, type Change, labeled, named } from "../testing/builders.ts";
import { frozenState, planDeploymentFreeze } from "./freeze-deployment.ts";

const label = labeled({ [labelKeys.freeze]: "True" });
const request = annotated({ [annotationKeys.unfreeze]: "" });
const frozenWith = (message: string): Change<MachineSet> => ({
  status: { machineSetCondition: [{ type: "Frozen", status: "True", reason: "OverShootingReplicaCount", message }] },
});
const set = (name: string, ...changes: readonly Change<MachineSet>[]): MachineSet =>
  aMachineSet(named(name), ...changes);
const planOf = (changes: readonly Change<MachineDeployment>[], ...sets: readonly MachineSet[]) => {
  const plan = planDeploymentFreeze(aMachineDeployment(...changes), sets);
  return { sets: Object.fromEntries(plan.sets), deployment: plan.deployment };
};
const none = { sets: {}, deployment: undefined };

describe("planDeploymentFreeze", () => {
  it("does nothing where nothing is frozen", () => {
    expect(planOf([], set("a"), set("b"))).toEqual(none);
    expect(planOf([])).toEqual(none);
  });

  it("freezes a deployment once when one of its sets is frozen", () => {
    const frozen = { metadata: { labels: { freeze: "True" } } };
    expect(planOf([], set("a"), set("b", label))).toEqual({ sets: {}, deployment: frozen });
    expect(planOf([label], set("b", label))).toEqual(none);
  });

  it("unfreezes a deployment none of whose sets is, or stays, frozen", () => {
    const thawed = { metadata: { labels: { freeze: null } } };
    expect(planOf([label], set("a"))).toEqual({ sets: {}, deployment: thawed });
    expect(planOf([label], set("a", label, request))).toEqual({ sets: {}, deployment: thawed });
    // The label is what stops creation: a condition alone is about to go.
    expect(planOf([label], set("a", frozenWith("x")))).toEqual({ sets: {}, deployment: thawed });
  });

  it("hands a request down to the sets that are frozen, and forgets it", () => {
    const asked = { metadata: { annotations: { [annotationKeys.unfreeze]: "True" } } };
    expect(planOf([label, request], set("a", label), set("b"), set("c", label, request))).toEqual({
      sets: { a: asked },
      deployment: {
        metadata: { labels: { freeze: null }, annotations: { [annotationKeys.unfreeze]: null } },
      },
    });
    expect(planOf([request], set("b")).deployment).toEqual({
      metadata: { annotations: { [annotationKeys.unfreeze]: null } },
    });
  });
});

describe("frozenState", () => {
  it("is none where no set is frozen", () => {
    expect(frozenState([])).toBeUndefined();
    expect(frozenState([set("a", frozenWith("x")), set("b", label, request)])).toBeUndefined();
  });

  it("is the condition of the first frozen set", () => {
    expect(frozenState([set("a", label), set("b", label, frozenWith("too many"))])).toEqual({
      type: "Frozen",
      status: "True",
      reason: "OverShootingReplicaCount",
      message: "too many",
    });
  });

  it("is an inconsistent state where no set has the condition", () => {
    expect(frozenState([set("a", label)])).toEqual({
      type: "Frozen",
      status: "True",
      reason: "MachineDeploymentStateSync",
      message: "MachineDeployment State was inconsistent, hence safety controller has fixed this and frozen it",
    });
    const bare = { status: { machineSetCondition: [{ type: "Frozen", status: "True" }] } };
    expect(frozenState([set("a", label, bare)])).toMatchObject({ reason: "", message: "" });
  });
});
