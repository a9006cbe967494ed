import { createServer } from "node:net";
import { crds, machineResource } from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, type Fault } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  createController,
  customResourceDefinitionResource,
  done,
  keyOf,
  watchTriggers,
} from "@millwright/kube";
import { seededRandom, systemClock, systemRandom } from "@millwright/base";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CacheUnderTest, configMap, configMaps, startCache, userAgent } from "./cache-under-test.ts";

/** Longest time for a recovery; the caches of these tests back off for at most half a second. */
const soon = { timeout: 20_000, interval: 50 };

/** A port without a listener, below the ephemeral range, so that no connection of another test takes it. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(systemRandom.next() * 10_000);
    const holder = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      holder.once("error", () => resolve(false));
      holder.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => holder.close(resolve));
    return port;
  }
}

describe("a cache while the API server fails", () => {
  let server: ApiServer;
  let url: string;
  let truth: ApiClient;
  const caches: CacheUnderTest[] = [];
  const cacheOf = (...[at, more]: Parameters<typeof startCache>): CacheUnderTest => {
    const cache = startCache(at, more);
    caches.push(cache);
    return cache;
  };
  const strike = (fault: Fault) => server.faults.add({ ...fault, match: { ...fault.match, userAgent } });
  const create = (name: string) => truth.create(configMaps, configMap(name));
  const change = (name: string, value: string) =>
    truth.patch(configMaps, { namespace: "default", name }, { data: { value } }, { kind: "merge" });
  const remove = (name: string) => truth.delete(configMaps, { namespace: "default", name });
  const asked = (verb: string) => server.requests.filter((r) => r.verb === verb && r.userAgent?.includes(userAgent));

  beforeEach(async () => {
    server = createApiServer();
    ({ url } = await server.listen());
    truth = createApiClient({ server: url });
  });
  afterEach(async () => {
    await Promise.all(caches.splice(0).map(({ stop }) => stop()));
    await truth.close();
    await server.close();
  });

  it("waits for a server that is down at start, while no controller reconciles, and syncs when it is up", async () => {
    const port = await freePort();
    const cache = cacheOf(`http://127.0.0.1:${port}`);
    const seen: string[] = [];
    const controller = createController({
      name: "waiting",
      waitFor: [cache.informer],
      clock: systemClock,
      random: seededRandom(1),
      reconcile: async (key) => {
        seen.push(key);
        return done;
      },
    });
    watchTriggers({ store: cache.informer.store, controller, keys: (object) => [keyOf(object)] });
    const stop = new AbortController();
    const running = controller.start(stop.signal);
    controller.enqueue("default/early");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { failures } = cache.informer.counts();
    expect(failures).toBeLessThan(15);
    await expect.poll(() => cache.informer.counts().failures, soon).toBeGreaterThan(2);
    expect(cache.informer.hasSynced()).toBe(false);
    expect(seen).toEqual([]);
    expect(cache.logged.filter((line) => line.startsWith("warn"))).toHaveLength(1);

    const late = createApiServer();
    await late.listen({ port });
    await cache.informer.synced();
    await expect.poll(() => seen, soon).toContain("default/early");
    stop.abort(new Error("the test ends"));
    await running;
    await cache.stop();
    await late.close();
  });

  it("delivers each change once, and lists once, while its watches are closed repeatedly", async () => {
    await create("unchanged");
    await create("kept");
    const cache = cacheOf(url);
    await cache.informer.synced();
    const written: string[] = [];
    for (let round = 0; round < 12; round++) {
      const partition = strike({ match: { verbs: ["watch"] }, effect: { kind: "partition" } });
      written.push(`+n${round} ${(await create(`n${round}`)).metadata.resourceVersion}`);
      written.push(`~kept ${(await change("kept", `v${round}`)).metadata.resourceVersion}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      partition.remove();
      const [last] = written.slice(-1);
      await expect.poll(() => cache.received, soon).toContain(last);
    }
    expect(cache.received.slice(-24)).toEqual(written);
    expect(cache.received).toHaveLength(26);
    expect(cache.informer.counts().lists).toBe(1);
  });

  it.each([true, false])(
    "lists again when its resource version expired, and delivers missed deletions with the last known state (streamed: %s)",
    async (streamingList) => {
      await create("stays");
      await create("deleted");
      const cache = cacheOf(url, { streamingList, pageSize: 1 });
      await cache.informer.synced();
      const last = (await change("deleted", "last")).metadata.resourceVersion;
      await expect.poll(() => cache.received, soon).toContain(`~deleted ${last}`);
      const partition = strike({ effect: { kind: "partition" } });
      await remove("deleted");
      await create("new");
      server.compactHistory();
      partition.remove();
      await expect.poll(cache.names, soon).toEqual(["new", "stays"]);
      expect(cache.received.filter((line) => line.startsWith("-"))).toEqual([`-deleted ${last}`]);
      expect(cache.informer.counts().lists).toBe(2);
    },
  );

  it("does not mix pages of two snapshots when the history is compacted between them", async () => {
    for (let i = 0; i < 9; i++) await create(`n${i}`);
    const cache = cacheOf(url, { streamingList: false, pageSize: 2 });
    const slow = strike({ match: { verbs: ["list"] }, effect: { kind: "latency", ms: 150 } });
    await expect.poll(() => asked("list").length, soon).toBeGreaterThan(1);
    await remove("n0");
    await create("n9");
    server.compactHistory();
    await cache.informer.synced();
    slow.remove();
    await expect.poll(cache.names, soon).toEqual(["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"]);
  });

  it.each([500, 429, 410])("stays up to date while watches end with error %i at every fifth line", async (code) => {
    for (let i = 0; i < 20; i++) await create(`n${String(i).padStart(2, "0")}`);
    strike({ effect: { kind: "watch-error", code }, probability: 0.2 });
    const cache = cacheOf(url);
    await expect.poll(() => cache.informer.hasSynced(), soon).toBe(true);
    for (let i = 0; i < 20; i++)
      await (i % 2 === 0 ? remove : (name: string) => change(name, "x"))(`n${String(i).padStart(2, "0")}`);
    await expect.poll(cache.names, soon).toHaveLength(10);
    await expect
      .poll(() => cache.informer.store.list().map((object) => object["data"]), soon)
      .toEqual(Array.from({ length: 10 }, () => ({ value: "x" })));
  });

  it("follows a server that restarts without data and counts resource versions from the start", async () => {
    for (let i = 0; i < 5; i++) await create(`n${i}`);
    const cache = cacheOf(url);
    await cache.informer.synced();
    await server.restart({ keepData: false, downMs: 300 });
    await create("first");
    await expect.poll(cache.names, soon).toEqual(["first"]);
  });

  it("is not synced while the CRD is missing, syncs when it is created, and is empty when it is deleted", async () => {
    const crd = crds().find(({ spec }) => spec.names.plural === machineResource.plural);
    if (crd === undefined) throw new Error("the CRD of machines is missing");
    const machine = {
      metadata: { namespace: "default", name: "m" },
      spec: { class: { kind: "MachineClass", name: "c" } },
    };
    const cache = cacheOf(url, { watched: machineResource });
    await expect.poll(() => cache.logged.join("\n"), soon).toContain("machines.machine.sapcloud.io");
    expect(cache.informer.hasSynced()).toBe(false);
    await truth.create(customResourceDefinitionResource, crd);
    await expect.poll(() => truth.create(machineResource, machine).then(() => "made", String), soon).toBe("made");
    await expect.poll(cache.names, soon).toEqual(["m"]);

    await truth.delete(customResourceDefinitionResource, { name: crd.metadata.name });
    await expect.poll(cache.names, soon).toEqual([]);
    strike({ effect: { kind: "partition" }, times: 1 }).remove();
    const before = cache.informer.counts().failures;
    await expect.poll(() => cache.informer.counts().failures, soon).toBeGreaterThan(before + 2);
    await expect
      .poll(() => truth.create(customResourceDefinitionResource, crd).then(() => "made", String), soon)
      .toBe("made");
    await expect
      .poll(
        () =>
          truth
            .create(machineResource, { ...machine, metadata: { namespace: "default", name: "again" } })
            .then(() => "made", String),
        soon,
      )
      .toBe("made");
    await expect.poll(cache.names, soon).toContain("again");
  });
});

describe("a cache without permissions", () => {
  it("names the missing permission, and syncs when it is granted", async () => {
    const server = createApiServer({
      authorization: "RBAC",
      tokens: { root: { user: "root", groups: ["system:masters"] }, poor: { user: "poor", groups: [] } },
    });
    const { url } = await server.listen();
    const headers = { authorization: "Bearer root" };
    const root = createApiClient({ server: url, credentials: async () => ({ headers }) });
    const cache = startCache(url, { token: "poor" });
    await expect
      .poll(() => cache.logged.join("\n"), soon)
      .toMatch(/User \\"poor\\" cannot (list|watch) resource \\"configmaps\\"/);
    expect(cache.informer.hasSynced()).toBe(false);
    expect(cache.logged.filter((line) => line.startsWith("warn"))).toHaveLength(1);

    const rbac = (kind: string, plural: string) => ({
      group: "rbac.authorization.k8s.io",
      version: "v1",
      kind,
      plural,
      namespaced: true,
    });
    const metadata = { namespace: "default", name: "reader" };
    await root.create(rbac("Role", "roles"), {
      metadata,
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }],
    });
    const binding = {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "poor" }],
    };
    await root.create(rbac("RoleBinding", "rolebindings"), binding);
    await cache.informer.synced();
    await root.create(configMaps, configMap("seen"));
    await expect.poll(cache.names, soon).toContain("seen");

    // The permission is revoked: known objects stay, and the cache recovers once it is granted again.
    await root.delete(rbac("RoleBinding", "rolebindings"), metadata);
    const partition = server.faults.add({ match: { userAgent }, effect: { kind: "partition" } });
    partition.remove();
    const failures = () => cache.informer.counts().failures;
    const before = failures();
    await expect.poll(failures, soon).toBeGreaterThan(before + 2);
    expect(cache.names()).toContain("seen");
    await root.create(configMaps, configMap("later"));
    await root.create(rbac("RoleBinding", "rolebindings"), binding);
    await expect.poll(cache.names, soon).toContain("later");
    await cache.stop();
    await root.close();
    await server.close();
  });
});
