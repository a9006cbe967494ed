import { isRecord, seededRandom, systemClock } from "@millwright/base";
import { type ApiServer, createApiServer, type Fault } from "@millwright/devcluster";
import {
  type ApiClient,
  adoptPatch,
  claimObjects,
  type Controller,
  createApiClient,
  createController,
  createExpectations,
  done,
  fulfillFromStore,
  isAlreadyExists,
  isControlledBy,
  isInvalid,
  keyOf,
  type KubeObject,
  mayHaveSucceeded,
  newControllerRef,
  parseKey,
  waitForCache,
  watchTriggers,
} from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CacheUnderTest, configMap, configMaps, startCache, userAgent } from "./cache-under-test.ts";

const dataOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  isRecord(object["data"]) ? object["data"] : {};

const soon = { timeout: 20_000, interval: 50 };

describe("writes while the API server fails", () => {
  let server: ApiServer;
  let url: string;
  let truth: ApiClient;
  let api: ApiClient;
  let cache: CacheUnderTest;
  let stop: AbortController;
  const running: Promise<void>[] = [];
  const strike = (fault: Fault) => server.faults.add({ ...fault, match: { ...fault.match, userAgent } });
  const stored = async () => (await truth.list(configMaps, { namespace: "default" })).items;
  const requests = (verb: string) => server.requests.filter((r) => r.verb === verb && r.userAgent.includes(userAgent));

  /** A controller of the ConfigMaps in the cache. */
  function run(reconcile: (object: KubeObject, signal: AbortSignal) => Promise<void>): Controller {
    const controller = createController({
      name: "writer",
      waitFor: [cache.informer],
      backoff: { initialMs: 20, maxMs: 400 },
      clock: systemClock,
      random: seededRandom(1),
      reconcile: async (key, signal) => {
        const object = cache.informer.store.get(key);
        if (object !== undefined) await reconcile(object, signal);
        return done;
      },
    });
    watchTriggers({ store: cache.informer.store, controller, keys: (object) => [keyOf(object)] });
    running.push(controller.start(stop.signal));
    return controller;
  }

  beforeEach(async () => {
    server = createApiServer();
    ({ url } = await server.listen());
    truth = createApiClient({ server: url });
    api = createApiClient({ server: url }, { userAgent, timeoutMs: 2_000 });
    stop = new AbortController();
    cache = startCache(url);
  });
  afterEach(async () => {
    stop.abort(new Error("the test ends"));
    await Promise.all(running.splice(0));
    await cache.stop();
    await Promise.all([api.close(), truth.close()]);
    await server.close();
  });

  const mark = async (object: KubeObject, signal: AbortSignal): Promise<void> => {
    const data = { seen: "true" };
    if (dataOf(object)["seen"] === "true") return;
    const { resourceVersion = "" } = object.metadata;
    const answer = await api.patch(
      configMaps,
      parseKey(keyOf(object)),
      { data: { value: null, ...data } },
      {
        kind: "merge",
        resourceVersion,
        signal,
      },
    );
    cache.informer.store.applyWrite(answer);
  };

  it("drops no key while many writes fail with Retry-After, and respects it", async () => {
    for (let i = 0; i < 12; i++) await truth.create(configMaps, configMap(`n${i}`));
    const refusal: Fault = {
      match: { verbs: ["patch"] },
      effect: { kind: "status", code: 429, retryAfterSeconds: 1 },
    };
    strike({ ...refusal, times: 3 });
    strike({ ...refusal, probability: 0.3 });
    const startedMs = performance.now();
    run(mark);
    await expect
      .poll(async () => (await stored()).filter((object) => dataOf(object)["seen"] === "true").length, {
        timeout: 60_000,
      })
      .toBe(12);
    expect(performance.now() - startedMs).toBeGreaterThan(900);
    expect(requests("patch").length).toBeLessThan(80);
  });

  it("overwrites no unseen change: it recomputes after a conflict, and backs off from a permanent one", async () => {
    await truth.create(configMaps, configMap("a", "0"));
    let reconciles = 0;
    run(async (object, signal) => {
      reconciles++;
      const { value = "0", sum = "0" } = dataOf(object);
      if (value === "0") return;
      // Another client writes between our read and our write.
      if (reconciles < 4)
        await truth.patch(
          configMaps,
          { namespace: "default", name: "a" },
          { data: { other: `${reconciles}` } },
          { kind: "merge" },
        );
      if (sum === value) return;
      const { resourceVersion = "" } = object.metadata;
      const patch = { data: { sum: value } };
      await api.patch(configMaps, { namespace: "default", name: "a" }, patch, {
        kind: "merge",
        resourceVersion,
        signal,
      });
    });
    await truth.patch(configMaps, { namespace: "default", name: "a" }, { data: { value: "7" } }, { kind: "merge" });
    await expect.poll(async () => (await stored())[0]?.["data"], soon).toMatchObject({ sum: "7", other: "3" });

    strike({ match: { verbs: ["patch"] }, effect: { kind: "status", code: 409 } });
    await truth.patch(configMaps, { namespace: "default", name: "a" }, { data: { value: "8" } }, { kind: "merge" });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const before = requests("patch").length;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(requests("patch").length - before).toBeLessThan(15);
  });

  it("adopts an existing child without controller, and takes another name when it has one", async () => {
    const owner = await truth.create(configMaps, configMap("owner"));
    const other = await truth.create(configMaps, configMap("other"));
    await truth.create(configMaps, configMap("orphaned-child"));
    const foreign = { ...configMap("child-of-other").metadata, ownerReferences: [newControllerRef(configMaps, other)] };
    await truth.create(configMaps, { metadata: foreign });
    await cache.informer.synced();

    /** Creates or adopts a child as controllers do: the collision count is part of its name. */
    const ensure = async (name: string, collisions = 0): Promise<string> => {
      const child = collisions === 0 ? name : `${name}-${collisions}`;
      const metadata = { namespace: "default", name: child, ownerReferences: [newControllerRef(configMaps, owner)] };
      try {
        await api.create(configMaps, { metadata });
        return child;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const found = await api.get(configMaps, { namespace: "default", name: child });
        if (isControlledBy(found, owner)) return child;
        const { adopt } = claimObjects(owner, [found], () => true);
        if (adopt.length === 0) return ensure(name, collisions + 1);
        const patch = adoptPatch(found, newControllerRef(configMaps, owner));
        await api.patch(configMaps, { namespace: "default", name: child }, patch, { kind: "merge" });
        return child;
      }
    };
    expect(await ensure("orphaned-child")).toBe("orphaned-child");
    expect(await ensure("orphaned-child")).toBe("orphaned-child");
    expect(await ensure("child-of-other")).toBe("child-of-other-1");
    expect(await ensure("new")).toBe("new");
    const owned = (await stored())
      .filter((object) => isControlledBy(object, owner))
      .map(({ metadata }) => metadata.name ?? "");
    expect(owned.toSorted()).toEqual(["child-of-other-1", "new", "orphaned-child"]);
  });

  it("backs off from writes that the server rejects as invalid", async () => {
    await truth.create(configMaps, configMap("a"));
    await cache.informer.synced();
    const errors: unknown[] = [];
    run(async (object, signal) => {
      try {
        await api.patch(
          configMaps,
          parseKey(keyOf(object)),
          { data: { key: { not: "text" } } },
          { kind: "merge", signal },
        );
      } catch (error) {
        errors.push(error);
        throw error;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(errors.length).toBeLessThan(25);
    await expect.poll(() => errors.length, soon).toBeGreaterThan(4);
    expect(errors.every((error) => isInvalid(error) || String(error).includes("data"))).toBe(true);
  });

  it("repeats no creation whose response was lost", async () => {
    await truth.create(configMaps, configMap("owner"));
    await cache.informer.synced();
    strike({ match: { verbs: ["create"] }, effect: { kind: "reset", when: "after" }, probability: 0.7 });
    const expectations = createExpectations({ clock: systemClock });
    fulfillFromStore({
      expectations,
      store: cache.informer.store,
      ownerOf: ({ metadata }) => (metadata.name?.startsWith("child") === true ? "default/owner" : undefined),
    });
    let lostResponses = 0;
    let made = 0;
    const controller = run(async (object, signal) => {
      if (object.metadata.name !== "owner") return controller.enqueue("default/owner");
      if (!expectations.satisfied("default/owner")) return;
      const children = cache.informer.store
        .list()
        .filter(({ metadata }) => metadata.name?.startsWith("child") === true);
      if (children.length >= 8) return;
      const name = `child-${made++}`;
      expectations.expectCreation("default/owner", name);
      try {
        await api.create(configMaps, configMap(name), { signal });
      } catch (error) {
        if (!mayHaveSucceeded(error)) expectations.creationRejected("default/owner", name);
        lostResponses++;
        throw error;
      }
    });
    await expect.poll(async () => (await stored()).length, soon).toBe(9);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await stored()).toHaveLength(9);
    expect(lostResponses).toBeGreaterThan(0);
    expect(requests("create")).toHaveLength(8);
  });

  it("waits until the cache contains the controller's own write", async () => {
    await cache.informer.synced();
    strike({ effect: { kind: "slow", ms: 2_000 } });
    const written = await api.create(configMaps, configMap("mine"));
    expect(cache.names()).toEqual([]);
    expect(await waitForCache({ cache: cache.informer, written, clock: systemClock })).toBe(true);
    expect(cache.names()).toEqual(["mine"]);
  });
});
