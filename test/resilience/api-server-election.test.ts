import { type ApiServer, createApiServer } from "@millwright/devcluster";
import { isRecord } from "@millwright/base";
import {
  type ApiClient,
  createApiClient,
  createElectionThread,
  type Leadership,
  leaseResource,
  startLeaderElection,
} from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configMaps, startCache } from "./cache-under-test.ts";

const leaseDurationMs = 3_000;

describe("leader election while the API server fails", () => {
  let server: ApiServer;
  let url: string;
  let truth: ApiClient;
  const leaderships: Leadership[] = [];
  const candidate = (identity: string, lease = "election", thread = createElectionThread()): Leadership => {
    const leadership = startLeaderElection({
      cluster: { cluster: { server: url } },
      leases: [{ namespace: "default", name: lease }],
      thread,
      identity,
      leaseDurationMs,
      renewDeadlineMs: 2_000,
      retryPeriodMs: 400,
    });
    leaderships.push(leadership);
    return leadership;
  };
  const spec = async (name = "election"): Promise<Readonly<Record<string, unknown>>> => {
    const lease = await truth.get(leaseResource, { namespace: "default", name });
    return isRecord(lease["spec"]) ? lease["spec"] : {};
  };
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  beforeEach(async () => {
    server = createApiServer();
    ({ url } = await server.listen());
    truth = createApiClient({ server: url });
  });
  afterEach(async () => {
    await Promise.all(leaderships.splice(0).map(({ stop }) => stop()));
    await truth.close();
    await server.close();
  });

  it("renews the lease while all other requests of the process are throttled or hang", async () => {
    const userAgent = "busy-controller";
    const busy = createApiClient({ server: url }, { userAgent, maxConnections: 2, timeoutMs: 20_000 });
    const leadership = candidate("a");
    await leadership.acquired();
    server.faults.add({ match: { userAgent, verbs: ["list"] }, effect: { kind: "latency", ms: 10_000 } });
    server.faults.add({
      match: { userAgent, verbs: ["create"] },
      effect: { kind: "status", code: 429, retryAfterSeconds: 1 },
    });
    const requests = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0
        ? busy.list(configMaps)
        : busy.create(configMaps, { metadata: { namespace: "default", name: `n${index}` } }),
    );
    const settled = Promise.allSettled(requests);
    const before = (await spec())["renewTime"];
    await wait(3 * leaseDurationMs);
    expect(leadership.isLeader()).toBe(true);
    expect(leadership.lost.aborted).toBe(false);
    expect((await spec())["renewTime"]).not.toBe(before);
    expect(await spec()).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
    await busy.close();
    await settled;
  });

  it.each([5 * 60_000, -5 * 60_000])(
    "does not depend on the server's clock: with an offset of %i ms one candidate leads, and the next takes over in time",
    async (offMs) => {
      server.faults.skewClock(offMs);
      const first = candidate("a");
      await first.acquired();
      const second = candidate("b");
      await wait(2 * leaseDurationMs);
      expect([first.isLeader(), second.isLeader()]).toEqual([true, false]);
      server.faults.skewClock(-offMs);
      await wait(leaseDurationMs);
      expect([first.isLeader(), second.isLeader()]).toEqual([true, false]);
      const stoppedMs = performance.now();
      await first.stop();
      await second.acquired();
      expect(performance.now() - stoppedMs).toBeLessThan(leaseDurationMs);
    },
  );

  it("runs several elections of a process in one thread: each leads, is lost and is released by itself", async () => {
    const thread = createElectionThread();
    const all = ["one", "two", "three"].map((name) => candidate("a", name, thread));
    await Promise.all(all.map((leadership) => leadership.acquired()));
    const [one, two, three] = all;
    await one?.stop();
    expect(all.map((leadership) => leadership.isLeader())).toEqual([false, true, true]);
    expect([await spec("one"), await spec("two")]).toMatchObject([{ holderIdentity: "" }, { holderIdentity: "a" }]);

    const { metadata, spec: held } = await truth.get(leaseResource, { namespace: "default", name: "two" });
    const taken = { ...(isRecord(held) ? held : {}), holderIdentity: "b" };
    await truth.replace(leaseResource, { metadata, spec: taken });
    await expect.poll(() => two?.lost.aborted).toBe(true);
    expect(three?.isLeader()).toBe(true);
    await Promise.all([two?.stop(), three?.stop()]);

    // The thread has ended by now, or will: the next election starts another one.
    const next = candidate("c", "one", thread);
    await next.acquired();
    expect(await spec("one")).toMatchObject({ holderIdentity: "c" });
  });

  it("keeps a cache and the order of its versions while the server's clock jumps", async () => {
    const cache = startCache(url);
    await cache.informer.synced();
    for (const [index, offMs] of [0, 300_000, -300_000, 86_400_000].entries()) {
      server.faults.skewClock(offMs);
      await truth.create(configMaps, { metadata: { namespace: "default", name: `n${index}` } });
    }
    await expect.poll(cache.names).toEqual(["n0", "n1", "n2", "n3"]);
    expect(cache.informer.counts()).toMatchObject({ lists: 1, failures: 0 });
    await cache.stop();
  });
});
