import { expect, test } from "vitest";
import type { StoredObject } from "../../objects/stored-object.ts";
import { at, type JsonObject, stringAt } from "../../json/json.ts";
import { conditionOf } from "../../objects/conditions.ts";
import { budgetStatus } from "./budget-status.ts";

const now = new Date("2026-01-01T00:10:00Z");
const object = (name: string, content: JsonObject, metadata: JsonObject = {}): StoredObject => ({
  ...content,
  apiVersion: "v1",
  kind: "Any",
  metadata: {
    name,
    namespace: "default",
    uid: name,
    resourceVersion: "1",
    creationTimestamp: "",
    generation: 2,
    ...metadata,
  },
});
const pod = (name: string, owner = "set", metadata: JsonObject = {}): StoredObject =>
  object(
    name,
    { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
    { ...(owner === "" ? {} : { ownerReferences: [{ uid: owner, controller: true }] }), ...metadata },
  );
const budget = (spec: JsonObject, status: JsonObject = {}): StoredObject =>
  object("budget", { spec: { selector: {}, ...spec }, status });
const of = (spec: JsonObject, pods: readonly StoredObject[], status: JsonObject = {}): JsonObject =>
  budgetStatus(budget(spec, status), pods, (uid) => (uid === "set" ? 3 : undefined), now);
const condition = (status: JsonObject) => {
  const found = conditionOf({ status }, "DisruptionAllowed");
  return [stringAt(found, "status"), stringAt(found, "reason"), stringAt(found, "message")];
};

test("counts healthy and desired pods, and allows or forbids a disruption", () => {
  const all = of({ maxUnavailable: 1 }, [pod("a"), pod("b"), pod("c")]);
  expect(all).toMatchObject({
    expectedPods: 3,
    desiredHealthy: 2,
    currentHealthy: 3,
    disruptionsAllowed: 1,
    observedGeneration: 2,
  });
  expect(condition(all)).toEqual(["True", "SufficientPods", ""]);
  const less = of({ maxUnavailable: 1 }, [pod("a"), pod("b")]);
  expect(less).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 0 });
  expect(condition(less)).toEqual(["False", "InsufficientPods", ""]);
  expect(of({ minAvailable: "50%" }, [pod("a"), pod("b")])).toMatchObject({ desiredHealthy: 2, expectedPods: 3 });
});

test("pods without a controller do not count for a percentage, so such a budget allows no disruption", () => {
  const status = of({ maxUnavailable: 1 }, [pod("a", ""), pod("b", "")]);
  expect(status).toMatchObject({ expectedPods: 0, currentHealthy: 2, disruptionsAllowed: 0 });
  expect(of({ minAvailable: 1 }, [pod("a", ""), pod("b", "")])).toMatchObject({ disruptionsAllowed: 1 });
});

test("an unknown controller is named in the condition, and no disruption is allowed", () => {
  const status = of({ maxUnavailable: 1 }, [pod("a", "other")], { disruptionsAllowed: 5 });
  expect(status).toMatchObject({ disruptionsAllowed: 0 });
  expect(condition(status)).toEqual(["False", "SyncFailed", 'found no controllers for pod "a"']);
});

test("an evicted pod counts as disrupted until it is being deleted, and for two minutes at most", () => {
  const pods = [pod("a"), pod("b"), pod("c")];
  const granted = (time: string) => of({ maxUnavailable: 1 }, pods, { disruptedPods: { a: time } });
  expect(granted("2026-01-01T00:09:00Z")).toMatchObject({
    currentHealthy: 2,
    disruptionsAllowed: 0,
    disruptedPods: { a: "2026-01-01T00:09:00Z" },
  });
  expect(granted("2026-01-01T00:07:00Z")).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
  expect(at(granted("2026-01-01T00:07:00Z"), "disruptedPods")).toBeUndefined();
  const leaving = pod("a", "set", { deletionTimestamp: "2026-01-01T00:09:30Z" });
  const after = of({ maxUnavailable: 1 }, [leaving, pod("b"), pod("c")], {
    disruptedPods: { a: "2026-01-01T00:09:00Z" },
  });
  expect(at(after, "disruptedPods")).toBeUndefined();
});

test("the condition keeps its transition time while it is the same", () => {
  const first = of({ maxUnavailable: 1 }, [pod("a"), pod("b"), pod("c")]);
  const later = budgetStatus(budget({ maxUnavailable: 1 }, first), [pod("a"), pod("b"), pod("c")], () => 3, new Date());
  expect(later).toEqual(first);
});
