import { crds as machineDefinitions } from "@millwright/core/machine-api";
import {
  apply,
  del,
  get,
  getUntil,
  jsonPatch,
  mergePatch,
  post,
  put,
  subject,
  uidOf,
  versionOf,
  type Json,
} from "../request-script.ts";
import { crds, isEstablished } from "./sample-objects.ts";

const root = "/apis/machine.sapcloud.io/v1alpha1/namespaces/{ns}";
const definitionOf = (plural: string): Json => {
  const found = machineDefinitions().find(({ spec }) => spec.names.plural === plural);
  const json: Json = JSON.parse(JSON.stringify(found));
  return json;
};
const plurals = ["machines", "machinesets", "machinedeployments", "machineclasses"];
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
const object = (kind: string, name: string, more: object) => ({
  apiVersion: "machine.sapcloud.io/v1alpha1",
  kind,
  metadata: { name },
  ...more,
});
const machine = (name: string, spec: object = {}) =>
  object("Machine", name, { spec: { class: { kind: "MachineClass", name: "c" }, ...spec } });
const template = { metadata: { labels: { app: "x" } }, spec: { class: { kind: "MachineClass", name: "c" } } };
const set = (name: string, spec: object = {}) =>
  object("MachineSet", name, { spec: { replicas: 2, selector: { matchLabels: { app: "x" } }, template, ...spec } });
const deployment = (name: string, spec: object = {}) =>
  object("MachineDeployment", name, {
    spec: { replicas: 3, selector: { matchLabels: { app: "x" } }, template, ...spec },
  });

const status = `${root}/machines/m/status`;
const otherUid = "11111111-2222-3333-4444-555555555555";

/** Conditional writes of the status, as the controllers send them. */
const conditionalStatus = [
  jsonPatch("json: below a status that does not exist", status, [
    { op: "add", path: "/status/lastKnownState", value: "x" },
  ]),
  jsonPatch("json: the first status, of another machine", status, [
    { op: "test", path: "/metadata/uid", value: otherUid },
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { lastKnownState: "x" } },
  ]),
  jsonPatch("json: the first status", status, (seen) => [
    { op: "test", path: "/metadata/uid", value: uidOf(seen("a machine")) },
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { lastKnownState: "x" } },
  ]),
  jsonPatch("json: no longer the first status", status, [
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { lastKnownState: "y" } },
  ]),
  jsonPatch("json: some fields of the status", status, (seen) => [
    { op: "test", path: "/metadata/uid", value: uidOf(seen("a machine")) },
    { op: "add", path: "/status/currentStatus", value: { phase: "Pending" } },
    { op: "add", path: "/status/currentStatus/timeoutActive", value: true },
    { op: "remove", path: "/status/lastKnownState" },
  ]),
  jsonPatch("json: fields of the status of another machine", status, [
    { op: "test", path: "/metadata/uid", value: otherUid },
    { op: "add", path: "/status/lastKnownState", value: "z" },
  ]),
  jsonPatch("json: a field that the status does not have", status, [{ op: "remove", path: "/status/lastKnownState" }]),
  jsonPatch("json: a status that is not valid", status, [{ op: "add", path: "/status/lastKnownState", value: 1 }]),
  jsonPatch("json: of a machine that does not exist", `${root}/machines/missing/status`, [
    { op: "test", path: "/metadata/uid", value: otherUid },
  ]),
  mergePatch("merge: the status of another machine", status, {
    metadata: { uid: otherUid },
    status: { lastKnownState: "z" },
  }),
];

const rolling = (rollingUpdate: object) => ({ strategy: { type: "RollingUpdate", rollingUpdate } });

const named = (specs: readonly (readonly [string, object])[]) => specs;

/** Specs that the rules of the definitions reject: one fault each. */
const invalidSpecs = [
  ...named([
    ["a machine without the name of a class", { class: { kind: "MachineClass" } }],
    ["a machine of another kind of class", { class: { kind: "Other", name: "c" } }],
    ["a machine with a timeout that is no duration", { creationTimeout: "20 minutes" }],
    ["a machine with a negative timeout", { drainTimeout: "-1m" }],
    ["a machine with durations in all units", { creationTimeout: "1h30m", drainTimeout: "1.5s", healthTimeout: "0" }],
    ["a machine with negative retries", { maxEvictRetries: -1 }],
  ]).map(([name, spec]) => post(`rule: ${name}`, `${root}/machines`, machine("r", spec))),
  ...named([
    ["a set without selector", { selector: undefined }],
    ["a set with an empty selector", { selector: { matchLabels: {} } }],
    ["a set with a selector of expressions", { selector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }],
    ["a set with a negative size", { replicas: -1 }],
  ]).map(([name, spec]) => post(`rule: ${name}`, `${root}/machinesets`, set("r", spec))),
  ...named([
    ["a deployment with a strategy that does not exist", { strategy: { type: "Canary" } }],
    ["a deployment without strategy", { strategy: {} }],
    ["a deployment that leaves no room", rolling({ maxSurge: 0, maxUnavailable: "0%" })],
    ["a deployment with a percentage without its sign", rolling({ maxSurge: "25" })],
    ["a deployment with a negative surge", rolling({ maxSurge: -1 })],
    ["a deployment with no surge", rolling({ maxSurge: 0, maxUnavailable: 1 })],
    ["a deployment without orchestration", { strategy: { type: "InPlaceUpdate" } }],
    [
      "a deployment with an orchestration",
      { strategy: { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Auto" } } },
    ],
    ["a deployment whose template names no class", { template: { spec: { class: { kind: "MachineClass" } } } }],
  ]).map(([name, spec], index) => post(`rule: ${name}`, `${root}/machinedeployments`, deployment(`r${index}`, spec))),
  post("rule: a class without the name of its driver", `${root}/machineclasses`, {
    ...object("MachineClass", "r", {}),
    provider: "",
    providerSpec: {},
  }),
];

/** The machine API on both servers. */
export const machines = subject("machines", [
  ...plurals.flatMap((plural) => [
    post(`define ${plural}`, crds, definitionOf(plural)),
    getUntil(`${plural} are established`, `${crds}/${plural}.machine.sapcloud.io`, isEstablished),
    getUntil(`${plural} are served`, `${root}/${plural}`, (status) => status === 200),
  ]),
  post("a machine", `${root}/machines`, machine("m")),
  post(
    "a machine with a provider id",
    `${root}/machines`,
    machine("m2", { providerID: "mock:///1", nodeTemplate: { metadata: { labels: { a: "b" } } } }),
  ),
  post("a machine with unknown fields", `${root}/machines`, machine("m3", { unknown: 1 })),
  post(
    "a machine with unknown fields, strict",
    `${root}/machines?fieldValidation=Strict`,
    machine("m4", { unknown: 1 }),
  ),
  post("a machine with a class that is a text", `${root}/machines`, machine("m5", { class: "c" })),
  ...invalidSpecs,
  ...conditionalStatus,
  mergePatch("the status of a machine", status, {
    status: {
      currentStatus: { phase: "Running", lastUpdateTime: "2010-01-01T00:00:00Z" },
      lastOperation: {
        description: "Machine m",
        lastUpdateTime: "2010-01-01T00:00:00Z",
        state: "Successful",
        type: "Create",
      },
    },
  }),
  mergePatch("a condition with a bad time", status, {
    status: { currentStatus: { lastUpdateTime: "noon" } },
  }),
  get("machines as a table", `${root}/machines`, table),
  post("a set", `${root}/machinesets`, set("s")),
  get("sets as a table", `${root}/machinesets`, table),
  get("scale of a set", `${root}/machinesets/s/scale`),
  mergePatch("scale the set", `${root}/machinesets/s/scale`, { spec: { replicas: 5 } }),
  post("a set with a text for replicas", `${root}/machinesets`, set("s2", { replicas: "two" })),
  post("a deployment", `${root}/machinedeployments`, deployment("d")),
  post(
    "a deployment with a strategy",
    `${root}/machinedeployments`,
    deployment("d2", { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "30%", maxUnavailable: 0 } } }),
  ),
  post(
    "a deployment with a bad strategy",
    `${root}/machinedeployments`,
    deployment("d3", { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: true } } }),
  ),
  get("deployments as a table", `${root}/machinedeployments`, table),
  put("replace a deployment", `${root}/machinedeployments/d`, (seen) => ({
    ...deployment("d", { paused: true }),
    metadata: { name: "d", resourceVersion: versionOf(seen("a deployment")) },
  })),
  put("scale a deployment", `${root}/machinedeployments/d/scale`, {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "d" },
    spec: { replicas: 1 },
  }),
  apply(
    "apply a deployment",
    `${root}/machinedeployments/d?fieldManager=user&force=true`,
    deployment("d", { minReadySeconds: 5 }),
  ),
  apply(
    "apply without replicas by another",
    `${root}/machinedeployments/d?fieldManager=scaler`,
    object("MachineDeployment", "d", { spec: { replicas: 9 } }),
  ),
  post(
    "a class",
    `${root}/machineclasses`,
    object("MachineClass", "c", {
      provider: "mock",
      providerSpec: { any: { thing: 1 } },
      secretRef: { name: "s", namespace: "{ns}" },
    }),
  ),
  get("classes as a table", `${root}/machineclasses`, table),
  del("delete a machine", `${root}/machines/m`),
  del("delete all machines", `${root}/machines`),
  ...plurals.map((plural) => del(`drop ${plural}`, `${crds}/${plural}.machine.sapcloud.io`)),
]);
