import { del, get, getUntil, mergePatch, post, subject, uidOf } from "../request-script.ts";
import { configMap, configMaps } from "./sample-objects.ts";

const ownedBy = (name: string, owner: string, uid: string, more: object = {}) =>
  configMap(name, {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid, ...more }] });
const gone = (status: number): boolean => status === 404;
const options = (propagationPolicy: string) => ({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy });
const pair = (owner: string, blocks = false) => [
  post(`owner ${owner}`, configMaps, configMap(owner)),
  post(`dependent of ${owner}`, configMaps, (seen) =>
    ownedBy(`${owner}-child`, owner, uidOf(seen(`owner ${owner}`)), blocks ? { blockOwnerDeletion: true } : {}),
  ),
];

/** Owners and dependents. */
export const garbage = subject("garbage", [
  ...pair("back"),
  del("background", `${configMaps}/back`, options("Background")),
  getUntil("the dependent follows", `${configMaps}/back-child`, gone),
  ...pair("orphan"),
  del("orphan", `${configMaps}/orphan`, options("Orphan")),
  getUntil("the owner goes", `${configMaps}/orphan`, gone),
  get("the dependent stays", `${configMaps}/orphan-child`),
  ...pair("fore", true),
  mergePatch("hold the dependent", `${configMaps}/fore-child`, { metadata: { finalizers: ["example.io/hold"] } }),
  del("foreground", `${configMaps}/fore`, options("Foreground")),
  getUntil("the dependent is deleted first", `${configMaps}/fore-child`, (_, body) =>
    JSON.stringify(body).includes("deletionTimestamp"),
  ),
  get("the owner waits", `${configMaps}/fore`),
  mergePatch("let the dependent go", `${configMaps}/fore-child`, { metadata: { finalizers: null } }),
  getUntil("then the owner goes", `${configMaps}/fore`, gone),
  post("an owner that never was", configMaps, ownedBy("lost", "never", "11111111-2222-3333-4444-555555555555")),
  getUntil("is collected", `${configMaps}/lost`, gone),
]);
