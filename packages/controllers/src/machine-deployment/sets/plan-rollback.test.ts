import { annotationKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, annotated, type Change, createdAt, named } from "../../testing/builders.ts";
import { planRollback } from "./plan-rollback.ts";

const ofClass = (name: string) => ({ spec: { template: { spec: { class: { name } } } } });
const revision = (value: number) => annotated({ [annotationKeys.revision]: String(value) });
const set = (name: string, value: number, ...changes: readonly Change<MachineSet>[]): MachineSet =>
  aMachineSet(named(name), ofClass(name), revision(value), ...changes);
const asking = (asked: number, ...changes: readonly Change<MachineDeployment>[]) =>
  aMachineDeployment({ spec: { rollbackTo: { revision: asked } } }, ...changes);
const three = [set("small", 1), set("big", 2), set("huge", 3)];

/** The class after the rollback, and the event. */
const outcome = (deployment: MachineDeployment, sets: readonly MachineSet[]): string => {
  const plan = planRollback(deployment, sets);
  if (plan === undefined) return "nothing";
  const after = applyMergePatch(deployment, plan.patch) as MachineDeployment;
  expect(after.spec.rollbackTo).toBeUndefined();
  return `${after.spec.template.spec.class?.name}: ${plan.because.reason}`;
};

describe("planRollback", () => {
  it.each<[string, MachineDeployment, readonly MachineSet[], string]>([
    ["does nothing unless asked", aMachineDeployment(), three, "nothing"],
    ["goes to the revision asked for", asking(1, ofClass("huge")), three, "small: DeploymentRollback"],
    ["goes to the previous revision for 0", asking(0, ofClass("huge")), three, "big: DeploymentRollback"],
    [
      "goes to the previous revision when no revision is given",
      asking(0, ofClass("huge"), { spec: { rollbackTo: { revision: null } } }),
      three,
      "big: DeploymentRollback",
    ],
    [
      "goes back from a template that was never rolled out to the last one that was",
      asking(0, ofClass("typo")),
      three,
      "huge: DeploymentRollback",
    ],
    [
      "goes back from a template that is an old one again to the newest",
      asking(0, ofClass("small")),
      three,
      "huge: DeploymentRollback",
    ],
    [
      "clears a request for a revision that does not exist",
      asking(7, ofClass("huge")),
      three,
      "huge: DeploymentRollbackRevisionNotFound",
    ],
    [
      "clears a request for the previous revision when there is none",
      asking(0),
      [set("small", 1)],
      "small: DeploymentRollbackRevisionNotFound",
    ],
    [
      "clears a request for the previous revision when it is unknown",
      asking(0, ofClass("huge")),
      [aMachineSet(ofClass("old"))],
      "huge: DeploymentRollbackRevisionNotFound",
    ],
    [
      "clears a request for the template that is there already",
      asking(3, ofClass("huge")),
      three,
      "huge: DeploymentRollbackTemplateUnchanged",
    ],
  ])("%s", (_, deployment, sets, expected) => {
    expect(outcome(deployment, sets)).toBe(expected);
  });

  it("restores the template without the hash, and what it was configured with", () => {
    const target = set("small", 1, {
      spec: { template: { metadata: { labels: { "machine-template-hash": "123" } }, spec: { drainTimeout: "1h" } } },
    });
    const deployment = asking(1, ofClass("huge"), {
      spec: {
        template: { metadata: { labels: { extra: "x" }, annotations: { a: "b" } }, spec: { healthTimeout: "2h" } },
      },
    });
    const after = applyMergePatch(deployment, planRollback(deployment, [target])?.patch) as MachineDeployment;
    expect(after.spec.template).toEqual({
      metadata: { labels: { name: "pool" } },
      spec: { class: { kind: "MachineClass", name: "small" }, drainTimeout: "1h" },
    });
  });

  it("works for a set whose template has no labels", () => {
    const target = set("small", 1, { spec: { template: { metadata: null } } });
    const deployment = asking(1, ofClass("huge"));
    const after = applyMergePatch(deployment, planRollback(deployment, [target])?.patch) as MachineDeployment;
    expect(after.spec.template.metadata?.labels).toEqual({});
  });

  it("restores the annotations of that time, and keeps those that belong to the deployment alone", () => {
    const deployment = asking(
      1,
      ofClass("huge"),
      annotated({ [annotationKeys.revision]: "3", later: "x", both: "new" }),
    );
    const target = set("small", 1, annotated({ both: "old", earlier: "y", [annotationKeys.desiredReplicas]: "3" }));
    const after = applyMergePatch(deployment, planRollback(deployment, [target])?.patch) as MachineDeployment;
    expect(after.metadata.annotations).toEqual({ [annotationKeys.revision]: "3", both: "old", earlier: "y" });
  });

  it("does not touch annotations where there are none", () => {
    const target = set("small", 1, { metadata: { annotations: { [annotationKeys.desiredReplicas]: "3" } } });
    expect(planRollback(asking(1, ofClass("huge")), [target])?.patch).not.toHaveProperty("metadata");
    const { annotations: _, ...bare } = target.metadata;
    expect(
      planRollback(asking(0, ofClass("huge")), [
        { ...target, metadata: bare },
        set("big", 2, createdAt("2026-01-02T00:00:00Z")),
      ])?.patch,
    ).not.toHaveProperty("metadata");
  });

  it("reports in one sentence what it did", () => {
    expect(planRollback(asking(1, ofClass("huge")), three)?.because.message).toBe(
      'Rolled back deployment "pool" to revision 1',
    );
    expect(planRollback(asking(3, ofClass("huge")), three)?.because.message).toBe(
      'The rollback revision contains the same template as current deployment "pool"',
    );
  });
});

it("lists the existing revisions for an unknown one, the newest first and at most ten", () => {
  const messageFor = (sets: readonly MachineSet[]) => planRollback(asking(77, ofClass("huge")), sets)?.because.message;
  const many = Array.from({ length: 12 }, (_, index) => set("small", index + 1));
  expect(messageFor(many)).toBe(
    "Unable to find the revision to rollback to: no machine set has revision 77, the newest are 12, 11, 10, 9, 8, 7, 6, 5, 4, 3",
  );
  expect(messageFor([])).toMatch(/there are none$/);
});
