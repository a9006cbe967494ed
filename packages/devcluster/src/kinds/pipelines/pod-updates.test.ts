import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../json/json.ts";
import { podUpdateProblems } from "./pod-updates.ts";

const live: JsonObject = {
  containers: [{ name: "a", image: "i:1" }],
  nodeName: "n",
  activeDeadlineSeconds: 10,
  tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 300 }],
  schedulingGates: [{ name: "g" }],
  terminationGracePeriodSeconds: 30,
};
const problems = (change: JsonObject, before: JsonObject = live): readonly (string | undefined)[] =>
  podUpdateProblems({ ...before, ...change }, before).map(({ field, message }) => `${field}: ${message}`);

test.each([
  [{ containers: [{ name: "a", image: "i:2" }] }],
  [{ activeDeadlineSeconds: 5 }],
  [{ tolerations: [{ key: "k", operator: "Exists", tolerationSeconds: 5 }, { key: "more" }] }],
  [{ schedulingGates: [] }],
  [{ nodeSelector: { zone: "a" } }],
])("allows a pod with a scheduling gate to become %j", (change) => {
  expect(problems(change)).toEqual([]);
});

test.each([
  [{ containers: [] }, "spec.containers: Forbidden: pod updates may not add or remove containers"],
  [{ activeDeadlineSeconds: 11 }, "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal"],
  [{ tolerations: [] }, "spec.tolerations: Forbidden: existing toleration can not be modified"],
  [{ schedulingGates: [{ name: "h" }] }, "spec.schedulingGates[0].name: Forbidden: only deletion is allowed"],
  [{ nodeName: "m", restartPolicy: "Never" }, "spec: Forbidden: pod updates may not change fields other than"],
  [{ containers: [{ name: "a", image: "i:1", env: [] }] }, "changed: containers"],
])("rejects a pod update to %j", (change, why) => {
  expect(problems(change).join()).toContain(why);
});

test("allows to change the grace period of a pod to one only if it was negative", () => {
  expect(problems({ terminationGracePeriodSeconds: 1 })).toHaveLength(1);
  const negative = { ...live, terminationGracePeriodSeconds: -1 };
  expect(problems({ terminationGracePeriodSeconds: 1 }, negative)).toEqual([]);
});

test("rejects a change of the node selector of a pod without scheduling gates", () => {
  const { schedulingGates: _gates, ...free } = live;
  expect(isObject(free) && problems({ nodeSelector: { zone: "a" } }, free)).toHaveLength(1);
});
