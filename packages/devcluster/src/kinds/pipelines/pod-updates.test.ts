import { expect, test } from "vitest";
import type { JsonObject } from "../../json/json.ts";
import { podUpdateProblems } from "./pod-updates.ts";

const live: JsonObject = {
  containers: [{ name: "a", image: "i:1" }],
  nodeName: "n",
  activeDeadlineSeconds: 10,
};
const problems = (change: JsonObject): readonly (string | undefined)[] =>
  podUpdateProblems({ ...live, ...change }, live).map(({ field, message }) => `${field}: ${message}`);

test.each([
  [{ containers: [{ name: "a", image: "i:2" }] }],
  [{ activeDeadlineSeconds: 5 }],
  [{ tolerations: [{ key: "more" }] }],
])("allows a pod to become %j", (change) => {
  expect(problems(change)).toEqual([]);
});

test.each([
  [{ containers: [] }, "spec.containers: Forbidden: pod updates may not add or remove containers"],
  [{ nodeName: "m", restartPolicy: "Never" }, "spec: Forbidden: pod updates may not change fields other than"],
  [{ containers: [{ name: "a", image: "i:1", env: [] }] }, "changed: containers"],
])("rejects a pod update to %j", (change, why) => {
  expect(problems(change).join()).toContain(why);
});
