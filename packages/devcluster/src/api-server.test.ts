import { request } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { createApiServer } from "./api-server.ts";
import { at, objectAt, stringAt } from "./json/json.ts";
import { startServer, type TestServer, versionOf } from "./testing/start-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
let api: TestServer;

beforeEach(async () => {
  api = await startServer();
});

test("starts with the namespaces of a new cluster and their service accounts", async () => {
  const { body } = await api.call("GET", "/api/v1/namespaces");
  expect(body["items"]).toMatchObject([
    { metadata: { name: "default" }, status: { phase: "Active" } },
    { metadata: { name: "kube-node-lease" } },
    { metadata: { name: "kube-public" } },
    { metadata: { name: "kube-system" } },
  ]);
  expect((await api.call("GET", "/api/v1/namespaces/kube-system/serviceaccounts/default")).code).toBe(200);
});

test("creates, reads, replaces and deletes an object", async () => {
  const created = await api.call("POST", configMaps, { metadata: { name: "a" }, data: { k: "1" } });
  expect(created.code).toBe(201);
  expect(created.body).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default" } });
  const replaced = await api.call("PUT", `${configMaps}/a`, { ...created.body, data: { k: "2" } });
  expect(replaced.body).toMatchObject({ data: { k: "2" } });
  expect(Number(versionOf(replaced.body))).toBeGreaterThan(Number(versionOf(created.body)));
  expect((await api.call("GET", `${configMaps}/a`)).body).toEqual(replaced.body);
  expect((await api.call("DELETE", `${configMaps}/a`)).body).toMatchObject({ kind: "Status", status: "Success" });
  expect(await api.call("GET", `${configMaps}/a`)).toMatchObject({
    code: 404,
    body: { reason: "NotFound", message: 'configmaps "a" not found', details: { name: "a", kind: "configmaps" } },
  });
});

test("rejects a write with an old resourceVersion", async () => {
  const { body: first } = await api.call("POST", configMaps, { metadata: { name: "a" } });
  await api.call("PUT", `${configMaps}/a`, { ...first, data: { k: "new" } });
  const late = await api.call("PUT", `${configMaps}/a`, { ...first, data: { k: "late" } });
  expect(late).toMatchObject({
    code: 409,
    body: {
      reason: "Conflict",
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    },
  });
  expect((await api.call("GET", `${configMaps}/a`)).body).toMatchObject({ data: { k: "new" } });
});

test("does not write an update that changes nothing", async () => {
  const { body } = await api.call("POST", configMaps, { metadata: { name: "a" }, data: { k: "1" } });
  const same = await api.call("PUT", `${configMaps}/a`, body);
  expect(versionOf(same.body)).toBe(versionOf(body));
});

test("answers a second create with AlreadyExists and a generated name with a new one", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  expect(await api.call("POST", configMaps, { metadata: { name: "a" } })).toMatchObject({
    code: 409,
    body: { reason: "AlreadyExists" },
  });
  const generated = await api.call("POST", configMaps, { metadata: { generateName: "a-" } });
  expect(at(generated.body, "metadata", "name")).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test("stores nothing on a dry run", async () => {
  const dry = await api.call("POST", `${configMaps}?dryRun=All`, { metadata: { name: "a" } });
  expect(dry.code).toBe(201);
  expect((await api.call("GET", `${configMaps}/a`)).code).toBe(404);
});

test("names field, value and remedy of an invalid object", async () => {
  const answer = await api.call("POST", configMaps, { metadata: { name: "Not_A_Name" } });
  expect(answer.code).toBe(422);
  expect(answer.body).toMatchObject({
    reason: "Invalid",
    details: {
      name: "Not_A_Name",
      kind: "ConfigMap",
      causes: [{ reason: "FieldValueInvalid", field: "metadata.name" }],
    },
  });
});

test("keeps an object until its last finalizer is removed", async () => {
  const { body } = await api.call("POST", configMaps, { metadata: { name: "a", finalizers: ["x.io/hold"] } });
  expect((await api.call("DELETE", `${configMaps}/a`)).body).toMatchObject({ kind: "ConfigMap" });
  const held = await api.call("GET", `${configMaps}/a`);
  expect(at(held.body, "metadata", "deletionTimestamp")).toBeTypeOf("string");
  const added = await api.call("PUT", `${configMaps}/a`, {
    ...held.body,
    metadata: { ...objectAt(held.body, "metadata"), finalizers: ["x.io/hold", "x.io/more"] },
  });
  expect(added.code).toBe(422);
  expect(at(body, "metadata", "deletionTimestamp")).toBeUndefined();
  const merge = { "content-type": "application/merge-patch+json" };
  await api.call("PATCH", `${configMaps}/a`, { metadata: { finalizers: null } }, merge);
  expect((await api.call("GET", `${configMaps}/a`)).code).toBe(404);
});

test("deletes only an object that meets the preconditions", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const wrong = await api.call("DELETE", `${configMaps}/a`, { preconditions: { uid: "other" } });
  expect(wrong).toMatchObject({ code: 409, body: { reason: "Conflict" } });
  expect((await api.call("GET", `${configMaps}/a`)).code).toBe(200);
});

test("pages a list at the version of its first page", async () => {
  for (const name of ["a", "b", "c", "d"]) await api.call("POST", configMaps, { metadata: { name } });
  const first = await api.call("GET", `${configMaps}?limit=2`);
  expect(first.body).toMatchObject({ metadata: { remainingItemCount: 2 }, items: [{}, {}] });
  await api.call("DELETE", `${configMaps}/c`);
  await api.call("POST", configMaps, { metadata: { name: "e" } });
  const token = encodeURIComponent(stringAt(first.body, "metadata", "continue") ?? "");
  const second = await api.call("GET", `${configMaps}?limit=2&continue=${token}`);
  expect(second.body["items"]).toMatchObject([{ metadata: { name: "c" } }, { metadata: { name: "d" } }]);
  expect(versionOf(second.body)).toBe(versionOf(first.body));
  api.server.compactHistory();
  expect(await api.call("GET", `${configMaps}?limit=2&continue=${token}`)).toMatchObject({
    code: 410,
    body: { reason: "Expired" },
  });
});

test("selects by labels and by the selectable fields of a resource", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a", labels: { app: "x", tier: "1" } } });
  await api.call("POST", configMaps, { metadata: { name: "b", labels: { app: "y" } } });
  const names = async (query: string): Promise<unknown> => {
    const { body } = await api.call("GET", `${configMaps}?${query}`);
    const items = body["items"];
    return Array.isArray(items) ? items.map((item) => at(item, "metadata", "name")) : body["message"];
  };
  expect(await names("labelSelector=app%3Dx")).toEqual(["a"]);
  expect(await names("labelSelector=app in (x,y),!tier")).toEqual(["b"]);
  expect(await names("labelSelector=app notin (x)")).toEqual(["b"]);
  expect(await names("labelSelector=constructor")).toEqual([]);
  expect(await names("fieldSelector=metadata.name!%3Da")).toEqual(["b"]);
  expect(await names("fieldSelector=data.x%3D1")).toBe(
    `"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
});

test("deletes the objects of a namespace before the namespace", async () => {
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: "gone" } });
  await api.call("POST", "/api/v1/namespaces/gone/configmaps", { metadata: { name: "a", finalizers: ["x.io/hold"] } });
  await api.call("DELETE", "/api/v1/namespaces/gone");
  expect((await api.call("GET", "/api/v1/namespaces/gone")).body).toMatchObject({ status: { phase: "Terminating" } });
  expect(await api.call("POST", "/api/v1/namespaces/gone/configmaps", { metadata: { name: "b" } })).toMatchObject({
    code: 403,
    body: { details: { causes: [{ reason: "NamespaceTerminating" }] } },
  });
  const merge = { "content-type": "application/merge-patch+json" };
  await api.call("PATCH", "/api/v1/namespaces/gone/configmaps/a", { metadata: { finalizers: [] } }, merge);
  await expect.poll(async () => (await api.call("GET", "/api/v1/namespaces/gone")).code).toBe(404);
  expect(
    (await api.call("POST", "/api/v1/namespaces/gone/configmaps", { metadata: { name: "b" } })).body,
  ).toMatchObject({
    message: 'namespaces "gone" not found',
  });
});

test("garbage collection: background, foreground and orphaning deletion", async () => {
  const own = async (name: string): Promise<string> => {
    const { body } = await api.call("POST", configMaps, { metadata: { name } });
    const uid = stringAt(body, "metadata", "uid") ?? "";
    const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true };
    await api.call("POST", configMaps, { metadata: { name: `${name}-child`, ownerReferences: [owner] } });
    return name;
  };
  for (const policy of ["Background", "Foreground", "Orphan"]) {
    const name = await own(policy.toLowerCase());
    await api.call("DELETE", `${configMaps}/${name}`, { propagationPolicy: policy });
    await expect.poll(async () => (await api.call("GET", `${configMaps}/${name}`)).code).toBe(404);
    const child = await api.call("GET", `${configMaps}/${name}-child`);
    expect(child.code).toBe(policy === "Orphan" ? 200 : 404);
    expect(at(child.body, "metadata", "ownerReferences")).toBeUndefined();
  }
});

test("a garbage collector that stops deletes dependents of deleted owners once its fault is removed", async () => {
  const { body } = await api.call("POST", configMaps, { metadata: { name: "owner" } });
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: stringAt(body, "metadata", "uid") ?? "" };
  await api.call("POST", configMaps, { metadata: { name: "child", ownerReferences: [owner] } });
  const faults = "/millwright/cluster-faults";
  await api.call("POST", faults, { kind: "garbage-collector-stops" });
  await api.call("DELETE", `${configMaps}/owner`);
  const restored = { metadata: { name: "restored", ownerReferences: [owner] } };
  expect(await api.call("POST", configMaps, restored)).toMatchObject({ code: 201 });
  expect((await api.call("GET", `${configMaps}/child`)).code).toBe(200);
  expect((await api.call("GET", `${configMaps}/restored`)).code).toBe(200);
  await api.call("DELETE", faults);
  for (const name of ["child", "restored"])
    await expect.poll(async () => (await api.call("GET", `${configMaps}/${name}`)).code).toBe(404);
});

test("rejects hostile bodies without any change", async () => {
  const deep = `{"metadata":{"name":"a"},"data":${"[".repeat(5000)}${"]".repeat(5000)}}`;
  expect(await api.call("POST", configMaps, deep)).toMatchObject({ code: 400, body: { reason: "BadRequest" } });
  const poisoned = '{"metadata":{"name":"a","labels":{"__proto__":"x"}}}';
  expect(await api.call("POST", configMaps, poisoned)).toMatchObject({ code: 400 });
  const rounded = '{"metadata":{"name":"a"},"data":{"n":9007199254740993}}';
  expect((await api.call("POST", configMaps, rounded)).body["message"]).toMatch(/9007199254740993 at "n"/);
  const huge = JSON.stringify({ metadata: { name: "a" }, data: { k: "x".repeat(3 * 1024 * 1024) } });
  expect(await api.call("POST", configMaps, huge)).toMatchObject({ code: 413 });
  expect(await api.call("POST", configMaps, "{nonsense")).toMatchObject({ code: 400 });
  expect(await api.call("POST", configMaps, { metadata: { name: "a", labels: { n: 1 } } })).toMatchObject({
    code: 400,
  });
  expect(Reflect.get({}, "x")).toBeUndefined();
  expect((await api.call("GET", `${configMaps}/a`)).code).toBe(404);
});

test("rejects requests from other hosts and from web pages", async () => {
  const status = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const call = request(`${api.url}/version`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on("error", reject);
      call.end();
    });
  expect(await status({})).toBe(200);
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ origin: "http://evil.example" })).toBe(403);
});

test("names the port that is in use", async () => {
  const port = Number(new URL(api.url).port);
  const second = createApiServer();
  await expect(second.listen({ port })).rejects.toThrow(`port ${port} of 127.0.0.1 is in use`);
  await second.close();
});

test("answers a read in well under a millisecond", async () => {
  await api.call("POST", configMaps, { metadata: { name: "a" } });
  const times: number[] = [];
  for (let count = 0; count < 300; count += 1) {
    const start = process.cpuUsage();
    await api.call("GET", `${configMaps}/a`);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1_000);
  }
  const median = times.toSorted((a, b) => a - b)[150] ?? Infinity;
  // Time on the processor, for others use the machine too; fetch itself takes most of it.
  expect(median).toBeLessThan(10);
});
