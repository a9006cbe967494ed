import { machineClassResource } from "@millwright/core/machine-api";
import { type ApiObject, secretResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { afterEach, expect, it, vi } from "vitest";
import { aMachineClass, named, refOf } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import type { SecretObject } from "../model/node-objects.ts";

const values = { userData: "Ym9vdA==" };
const stop = new AbortController();
afterEach(() => stop.abort());

/** A class that refers to Secret `small`, and two Secrets. */
async function setUp() {
  const { api, clock, newContext, run } = createTestCluster();
  api.seed(machineClassResource, aMachineClass());
  for (const name of ["small", "foreign"])
    api.seed<SecretObject>(secretResource, { metadata: refOf(name), data: values });
  const { caches } = newContext();
  const end = new AbortController();
  stop.signal.addEventListener("abort", () => end.abort());
  await run({ ...newContext(), caches }, end.signal);
  const { secrets } = caches;
  const reads = () => api.calls.filter(({ verb, resource }) => verb === "get" && resource.startsWith("secrets"));
  const change = async (change: object): Promise<void> => {
    api.change(secretResource, refOf("small"), change);
    await clock.advance(10);
  };
  return { api, clock, secrets, reads, change };
}

it("keeps no values of any secret in its store", async () => {
  const { secrets } = await setUp();
  await secrets.read(["small"]);
  const kept: readonly ApiObject[] = secrets.store.list();
  expect(kept).toHaveLength(2);
  expect(JSON.stringify(kept)).not.toContain(values.userData);
});

it("reads the values of a secret that a class refers to, once for all callers", async () => {
  const { secrets, reads } = await setUp();
  expect(secrets.valuesOf("small")).toBeUndefined();
  await Promise.all([secrets.read(["small"]), secrets.read(["small"])]);
  await secrets.read(["small"]);
  expect(secrets.valuesOf("small")).toEqual(values);
  expect(reads()).toHaveLength(1);
});

it("reads no secret that no class refers to, and none that is not there", async () => {
  const { secrets, reads } = await setUp();
  await secrets.read(["foreign", "missing"]);
  expect(reads()).toEqual([]);
  expect([secrets.valuesOf("foreign"), secrets.valuesOf("missing")]).toEqual([undefined, undefined]);
});

it("sees a secret that a class refers to later", async () => {
  const { api, clock, secrets } = await setUp();
  api.seed(machineClassResource, aMachineClass(named("later"), { secretRef: { name: "foreign" } }));
  await clock.advance(10);
  await secrets.read(["foreign"]);
  expect(secrets.valuesOf("foreign")).toEqual(values);
});

it("drops values with the last class that refers to them", async () => {
  const { api, clock, secrets, reads } = await setUp();
  await secrets.read(["small"]);
  api.remove(machineClassResource, refOf("small"));
  await clock.advance(10);
  expect(secrets.valuesOf("small")).toBeUndefined();
  api.seed(machineClassResource, aMachineClass({ metadata: { uid: "another" } }));
  await clock.advance(10);
  await secrets.read(["small"]);
  expect([secrets.valuesOf("small"), reads().length]).toEqual([values, 2]);
});

it("has values read again when they change, and not when only a finalizer does", async () => {
  const { secrets, change } = await setUp();
  await secrets.read(["small"]);
  await change({ metadata: { finalizers: ["x"] } });
  expect(secrets.valuesOf("small")).toEqual(values);
  await change({ data: { userData: "bmV3" } });
  expect(secrets.valuesOf("small")).toBeUndefined();
  await secrets.read(["small"]);
  expect(secrets.valuesOf("small")).toEqual({ userData: "bmV3" });
});

it("takes what it reads for the newest, although the watch is behind", async () => {
  const { api, secrets } = await setUp();
  api.change(secretResource, refOf("small"), { data: { userData: "bmV3" } });
  // No turn of the event loop for the watch.
  await secrets.read(["small"]);
  expect(secrets.valuesOf("small")).toEqual({ userData: "bmV3" });
});

it("treats a secret as deleted that is not found when it is read", async () => {
  const { api, secrets } = await setUp();
  api.remove(secretResource, refOf("small"));
  // No turn of the event loop for the watch.
  await secrets.read(["small"]);
  expect([secrets.store.getByRef(refOf("small")), secrets.valuesOf("small")]).toEqual([undefined, undefined]);
});

it("keeps a secret that was created again while the former one was read", async () => {
  const { api, clock, secrets } = await setUp();
  const get = api.get.bind(api);
  vi.spyOn(api, "get").mockImplementationOnce(async (...call) => {
    api.remove(secretResource, refOf("small"));
    const missing = await get(...call).catch((error: unknown) => error);
    api.seed<SecretObject>(secretResource, { metadata: { ...refOf("small"), uid: "another" }, data: values });
    await clock.advance(10);
    throw missing;
  });
  await secrets.read(["small"]);
  expect(secrets.store.getByRef(refOf("small"))?.metadata.uid).toBe("another");
});

it("does not keep the values of a secret that is of no use any more once they are read", async () => {
  const { api, clock, secrets, reads } = await setUp();
  const get = api.get.bind(api);
  vi.spyOn(api, "get").mockImplementationOnce(async (type, ref, options) => {
    const secret = await get<never>(type, ref, options);
    api.remove(machineClassResource, refOf("small"));
    await clock.advance(10);
    return secret;
  });
  await secrets.read(["small"]);
  expect(secrets.valuesOf("small")).toBeUndefined();
  expect(reads()).toHaveLength(1);
});

it("drops the values of a deleted secret", async () => {
  const { api, clock, secrets, reads } = await setUp();
  await secrets.read(["small"]);
  api.remove(secretResource, refOf("small"));
  await clock.advance(10);
  expect(secrets.valuesOf("small")).toBeUndefined();
  api.seed<SecretObject>(secretResource, { metadata: { ...refOf("small"), uid: "another" }, data: values });
  await clock.advance(10);
  await secrets.read(["small"]);
  expect([secrets.valuesOf("small"), reads().length]).toEqual([values, 2]);
});

it("reports that it could not read, and reads again at the next call", async () => {
  const { api, secrets } = await setUp();
  api.inject({ verb: "get", type: secretResource, error: serverError() });
  await expect(secrets.read(["small"])).rejects.toThrow("etcdserver");
  await secrets.read(["small"]);
  expect(secrets.valuesOf("small")).toEqual(values);
});
