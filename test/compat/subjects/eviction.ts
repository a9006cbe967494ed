import {
  del,
  get,
  getUntil,
  isJsonObject,
  type JsonObject,
  mergePatch,
  post,
  put,
  subject,
} from "../request-script.ts";
import { budget, budgets, pod, pods } from "./sample-objects.ts";

const bound = (name: string, app: string) =>
  pod(name, { nodeName: "compat-somewhere", terminationGracePeriodSeconds: 0 }, { labels: { app } });
const evict = (name: string, pod: string, options?: object) =>
  post(name, `${pods}/${pod}/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: pod, namespace: "{ns}" },
    ...(options === undefined ? {} : { deleteOptions: options as JsonObject }),
  });
const ready = (pod: string) =>
  mergePatch(`${pod} is ready`, `${pods}/${pod}/status`, {
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  });
const statusOf = (body: JsonObject): JsonObject => (isJsonObject(body["status"]) ? body["status"] : {});
/** A later transition of the budget then has another time, since times are of whole seconds: who owns the field depends on that. */
const hasTransitionOfAnEarlierSecond = (body: JsonObject): boolean => {
  const { conditions } = statusOf(body);
  const [condition] = Array.isArray(conditions) ? conditions : [];
  const time = isJsonObject(condition) ? condition["lastTransitionTime"] : undefined;
  return typeof time === "string" && Date.now() - Date.parse(time) > 1_000;
};

/** Evictions and PodDisruptionBudgets. */
export const eviction = subject("eviction", [
  post("a free pod", pods, bound("free", "free")),
  evict("dry run", "free", { dryRun: ["All"] }),
  evict("a free pod goes", "free"),
  get("it is gone", `${pods}/free`),
  evict("one that is missing", "missing"),
  post("another free pod", pods, bound("free2", "free")),
  post("of another version", `${pods}/free2/eviction`, {
    apiVersion: "policy/v1beta1",
    kind: "Eviction",
    metadata: { name: "free2" },
  }),
  post("of another name", `${pods}/free2/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: "other" },
  }),
  post("without metadata", `${pods}/free2/eviction`, { apiVersion: "policy/v1", kind: "Eviction" }),
  post("of another kind", `${pods}/free2/eviction`, { apiVersion: "v1", kind: "Pod", metadata: { name: "free2" } }),
  get("get an eviction", `${pods}/free2/eviction`),
  evict("with a wrong uid", "free2", { preconditions: { uid: "11111111-2222-3333-4444-555555555555" } }),
  post("a pod that waits", pods, pod("slow", { nodeName: "compat-somewhere", terminationGracePeriodSeconds: 30 })),
  evict("a pod that waits is marked", "slow"),
  get("and is marked", `${pods}/slow`),
  evict("again", "slow"),
  evict("at once", "slow", { gracePeriodSeconds: 0 }),
  post("one", pods, bound("one", "web")),
  post("two", pods, bound("two", "web")),
  ready("one"),
  ready("two"),
  post("a budget", budgets, budget("web", { minAvailable: 1, selector: { matchLabels: { app: "web" } } })),
  getUntil(
    "its status",
    `${budgets}/web`,
    (_, body) => statusOf(body)["disruptionsAllowed"] === 1 && hasTransitionOfAnEarlierSecond(body),
  ),
  evict("within the budget", "one"),
  getUntil("the budget is spent", `${budgets}/web`, (_, body) => statusOf(body)["expectedPods"] === 1),
  evict("against the budget", "two"),
  evict("against the budget, dry run", "two", { dryRun: ["All"] }),
  put(
    "raise it",
    `${budgets}/web`,
    budget("web", { maxUnavailable: "100%", selector: { matchLabels: { app: "web" } } }),
  ),
  post("a pod that is not ready", pods, bound("sick", "sick")),
  post(
    "a budget for the sick",
    budgets,
    budget("sick", { minAvailable: 1, selector: { matchLabels: { app: "sick" } } }),
  ),
  getUntil("the status of the sick", `${budgets}/sick`, (_, body) => statusOf(body)["expectedPods"] === 1),
  evict("a pending pod needs no budget", "sick"),
  post("a budget with both bounds", budgets, budget("both", { minAvailable: 1, maxUnavailable: 1 })),
  post("a budget with a bad percentage", budgets, budget("bad", { minAvailable: "150" })),
  post("a budget below zero", budgets, budget("bad", { minAvailable: -1 })),
  post(
    "a budget with an unknown policy",
    budgets,
    budget("bad", { minAvailable: 1, unhealthyPodEvictionPolicy: "Maybe" }),
  ),
  post(
    "a budget with a bad selector",
    budgets,
    budget("bad", { minAvailable: 1, selector: { matchExpressions: [{ key: "a", operator: "Is" }] } }),
  ),
  post("a budget for all", budgets, budget("all", { maxUnavailable: 0, selector: {} })),
  post("several", pods, bound("several", "several")),
  post(
    "a second budget for several",
    budgets,
    budget("several", { maxUnavailable: 0, selector: { matchLabels: { app: "several" } } }),
  ),
  ready("several"),
  evict("several budgets", "several"),
  del("a deletion asks no budget", `${pods}/several`),
]);
