import {
  annotationKeys,
  type MachineSet,
  selectorMatches,
  validateMachineDeployment,
  validateMachineSet,
} from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, annotated } from "../../testing/builders.ts";
import { machineSetPatch, newMachineSet } from "./machine-set-shape.ts";
import { isSameTemplate } from "../../model/template-hash.ts";

const { desiredReplicas, maxReplicas, revision, revisionHistory } = annotationKeys;
const bounds = { replicas: 3, maxSurge: 1, maxUnavailable: 0 };

describe("newMachineSet", () => {
  const deployment = aMachineDeployment(
    annotated({
      note: "x",
      [annotationKeys.triggerDeletion]: "m1~2026-01-01T00:00:00Z",
      [annotationKeys.kubectlLastApplied]: "{}",
    }),
    { metadata: { labels: { own: "label" } }, spec: { minReadySeconds: 500, autoPreserveFailedMachineMax: 2 } },
  );
  const set = newMachineSet(deployment, 2, 7, bounds);
  const hash = set.metadata.labels?.["machine-template-hash"] ?? "";

  it("is valid and has the template of its deployment", () => {
    expect(validateMachineSet(set)).toEqual([]);
    expect(isSameTemplate(set.spec.template, deployment.spec.template, "machine-template-hash")).toBe(true);
    expect(set.spec).toMatchObject({ replicas: 2, minReadySeconds: 500, autoPreserveFailedMachineMax: 2 });
  });

  it("carries the hash in its labels, its selector and its template, and in its name", () => {
    expect(hash).toMatch(/^\d+$/);
    expect(set.metadata.name).toMatch(/^pool-[a-z2-9]{5}$/);
    expect(set.metadata.labels).toEqual({ name: "pool", "machine-template-hash": hash });
    expect(set.spec.selector).toEqual({ matchLabels: { name: "pool", "machine-template-hash": hash } });
    expect(set.spec.template.metadata?.labels).toEqual({ name: "pool", "machine-template-hash": hash });
  });

  it("matches every selector that is valid: otherwise it would be released, and another one created, without end", () => {
    const key = fc.constantFrom("name", "machine-template-hash");
    const values = fc.subarray(["pool", "123"], { minLength: 1 });
    const requirement = fc.oneof(
      fc.record({ key, operator: fc.constantFrom("In", "NotIn"), values }),
      fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist") }),
    );
    const matchLabels = fc.dictionary(key, fc.constantFrom("pool", "123"));
    const selectors = fc.record({ matchLabels, matchExpressions: fc.array(requirement, { maxLength: 2 }) });
    fc.assert(
      fc.property(selectors, matchLabels, (selector, labels) => {
        const made = aMachineDeployment({ spec: { selector, template: { metadata: { labels } } } });
        fc.pre(validateMachineDeployment(made).length === 0);
        expect(selectorMatches(made.spec.selector, newMachineSet(made, 1, 1, bounds).metadata.labels)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("inherits annotations but those that are about the deployment alone", () => {
    expect(set.metadata.annotations).toEqual({
      note: "x",
      [annotationKeys.inheritedAnnotations]: "note",
      [revision]: "7",
      [desiredReplicas]: "3",
      [maxReplicas]: "4",
    });
  });

  it("has another name after each collision", () => {
    const names = [0, 1, 2].map(
      (collisionCount) => newMachineSet(aMachineDeployment({ status: { collisionCount } }), 0, 1, bounds).metadata.name,
    );
    expect(new Set(names).size).toBe(3);
  });

  it("is made from as little as a template", () => {
    const bare = aMachineDeployment({
      metadata: { namespace: null },
      spec: { selector: null, template: { metadata: null } },
    });
    const made = newMachineSet(bare, 0, 1, bounds);
    expect(made.metadata).not.toHaveProperty("namespace");
    expect(Object.keys(made.spec.selector?.matchLabels ?? {})).toEqual(["machine-template-hash"]);
  });
});

describe("machineSetPatch", () => {
  const deployment = aMachineDeployment();
  const set = newMachineSet(deployment, 3, 1, bounds);
  const patched = (...given: Parameters<typeof machineSetPatch>) =>
    applyMergePatch(given[0].set, machineSetPatch(...given)) as MachineSet;

  it("is nothing for a set that is as it should be", () => {
    expect(machineSetPatch({ set, bounds, isScaled: false })).toBeUndefined();
    expect(
      machineSetPatch({ set, bounds, isScaled: true, replicas: 3, follow: { deployment, revision: 1 } }),
    ).toBeUndefined();
  });

  it("notes the size of the deployment where it scales, and only there", () => {
    const larger = { ...bounds, replicas: 5 };
    expect(machineSetPatch({ set, bounds: larger, isScaled: false })).toBeUndefined();
    const annotations = { [desiredReplicas]: "5", [maxReplicas]: "6" };
    expect(machineSetPatch({ set, bounds: larger, isScaled: true })).toEqual({ metadata: { annotations } });
    expect(machineSetPatch({ set, bounds: larger, isScaled: false, replicas: 5 })).toEqual({
      metadata: { annotations },
      spec: { replicas: 5 },
    });
  });

  it("hands configuration down and leaves hash, labels and class alone", () => {
    const changed = aMachineDeployment(annotated({ note: "y" }), {
      spec: {
        minReadySeconds: 5,
        template: { spec: { drainTimeout: "1h", nodeTemplate: { metadata: { labels: { a: "b" } } } } },
      },
    });
    const patch = machineSetPatch({ set, bounds, isScaled: false, follow: { deployment: changed, revision: 1 } });
    expect(patch).toEqual({
      metadata: { annotations: { note: "y", [annotationKeys.inheritedAnnotations]: "note" } },
      spec: {
        minReadySeconds: 5,
        template: { spec: { drainTimeout: "1h", nodeTemplate: { metadata: { labels: { a: "b" } } } } },
      },
    });
  });

  it("takes configuration away that the deployment no longer has", () => {
    const configured = newMachineSet(
      aMachineDeployment({ spec: { template: { spec: { drainTimeout: "1h" } } } }),
      3,
      1,
      bounds,
    );
    expect(
      patched({ set: configured, bounds, isScaled: false, follow: { deployment, revision: 1 } }).spec.template.spec,
    ).toEqual(deployment.spec.template.spec);
  });

  it("follows the kind of the class", () => {
    const other = aMachineDeployment({ spec: { template: { spec: { class: { kind: "GreatClass" } } } } });
    const follow = { deployment: other, revision: 1 };
    expect(patched({ set, bounds, isScaled: false, follow }).spec.template.spec.class).toEqual({
      kind: "GreatClass",
      name: "small",
    });
  });

  it("gets along without a class", () => {
    const classless = { spec: { template: { spec: { class: null } } } };
    const follow = { deployment: aMachineDeployment(classless), revision: 1 };
    expect(
      machineSetPatch({ set: aMachineSet(classless, annotated({ [revision]: "1" })), bounds, isScaled: false, follow }),
    ).toBeUndefined();
    const mute = {
      deployment: aMachineDeployment({ spec: { template: { spec: { class: { kind: null } } } } }),
      revision: 1,
    };
    expect(machineSetPatch({ set, bounds, isScaled: false, follow: mute })).toBeUndefined();
  });

  it("raises the revision of a set that becomes the newest again, once", () => {
    const again = patched({ set, bounds, isScaled: false, follow: { deployment, revision: 4 } });
    expect(again.metadata.annotations).toMatchObject({ [revision]: "4", [revisionHistory]: "1" });
    expect(
      machineSetPatch({ set: again, bounds, isScaled: false, follow: { deployment, revision: 4 } }),
    ).toBeUndefined();
  });

  it("annotates a set that has no annotations", () => {
    const plain = aMachineSet({ metadata: { annotations: null } });
    expect(machineSetPatch({ set: plain, bounds, isScaled: true })).toEqual({
      metadata: { annotations: { [desiredReplicas]: "3", [maxReplicas]: "4" } },
    });
  });

  it("takes annotations away that the deployment has no more, and none that it never had", () => {
    const list = annotationKeys.inheritedAnnotations;
    const patchOf = (own: Readonly<Record<string, string>>, theirs: Readonly<Record<string, string>>) => {
      const deployment = aMachineDeployment(annotated(theirs));
      const set = aMachineSet(annotated({ [revision]: "7", ...own }), { spec: { template: deployment.spec.template } });
      return machineSetPatch({ set, bounds, isScaled: false, follow: { deployment, revision: 7 } });
    };
    expect(patchOf({ note: "x", gone: "y", own: "z", [list]: "gone,note" }, { note: "x" })).toEqual({
      metadata: { annotations: { gone: null, [list]: "note" } },
    });
    expect(patchOf({ gone: "y", [list]: "gone" }, {})).toEqual({
      metadata: { annotations: { gone: null, [list]: null } },
    });
    // MCM kept no list: what its sets carry is left alone.
    expect(patchOf({ gone: "y" }, {})).toBeUndefined();
    // An edited list does not affect the set's own annotations.
    expect(patchOf({ [list]: revision }, {})).toEqual({ metadata: { annotations: { [list]: null } } });
  });
});
