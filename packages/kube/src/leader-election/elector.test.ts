import { seededRandom } from "@millwright/base";
import { createVirtualClock, type VirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ApiClient } from "../client/api-client.ts";
import { ApiError } from "../client/api-error.ts";
import { leaseResource } from "../objects/built-in-resources.ts";
import { conflictError, serverError, tooManyRequestsError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import type { FakeApi } from "../testing/fake-api.ts";
import { joinElection } from "../testing/join-election.ts";

const lease = { namespace: "default", name: "l" };
const unanswered = () => new ApiError({ status: 0, reason: "ClientTimeout", message: "no answer" });

const setUp = () => {
  const clock = createVirtualClock();
  return { clock, api: createFakeApi({ clock }) };
};
const spec = (api: FakeApi) => api.peek(leaseResource, lease)?.["spec"];

test("makes the lease, leads, renews every four seconds and keeps what others wrote into it", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(0);
  expect(a.isLeader()).toBe(true);
  expect(spec(api)).toEqual({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  api.change(leaseResource, lease, { metadata: { labels: { a: "b" } }, spec: { strategy: "x" } });
  await clock.advance(60_000);
  expect(a.state.untilMs).toBeGreaterThanOrEqual(68_000);
  // The first renewal conflicts with the change and is repeated after two seconds.
  expect(spec(api)).toMatchObject({ strategy: "x", renewTime: "2026-01-01T00:00:58.000000Z" });
  expect(api.calls.filter(({ verb }) => verb === "replace")).toHaveLength(15);
  expect(api.peek(leaseResource, lease)?.metadata.labels).toEqual({ a: "b" });
  await a.stop();
  expect(clock.pending()).toBe(0);
});

test("gives the lease back on a clean stop, and the next one leads", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(0);
  const b = joinElection(api, clock, "b");
  await clock.advance(10_000);
  expect([a.isLeader(), b.isLeader(), b.state.holder]).toEqual([true, false, "a"]);
  await a.stop();
  expect(spec(api)).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
  await clock.advance(2_000);
  expect(b.isLeader()).toBe(true);
  expect(spec(api)).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  await b.stop();
});

test.each([0, 0.5, 0.999])(
  "leads at once when the leases are free, 1.6 s after a clean stop, and a lease duration and 1.6 s after a kill at the latest (jitter %d)",
  async (jitter) => {
    const leases = ["machine-controller-manager", "machine-controller"].map((name) => ({ namespace: "default", name }));
    const random = { ...seededRandom(1), next: () => jitter };
    // The leader ends at different moments between two reads of the standby.
    for (let afterMs = 10_000; afterMs < 12_400; afterMs += 150) {
      for (const isKilled of [false, true]) {
        const { clock, api } = setUp();
        let isAlive = true;
        const killable = {
          get: (...args: Parameters<ApiClient["get"]>) => (isAlive ? api.get(...args) : Promise.reject(unanswered())),
          create: api.create,
          replace: (...args: Parameters<ApiClient["replace"]>) =>
            isAlive ? api.replace(...args) : Promise.reject(unanswered()),
        } as typeof api;
        const a = joinElection(killable, clock, "a", leases, random);
        await clock.advance(0);
        expect(a.isLeader()).toBe(true);
        const b = joinElection(api, clock, "b", leases, random);
        await clock.advance(afterMs);
        if (isKilled) isAlive = false;
        else await a.stop();
        await clock.advance(isKilled ? 15_000 + 1_600 : 1_600);
        expect([a.isLeader(), b.isLeader()], `ended after ${afterMs} ms`).toEqual([false, true]);
        await Promise.all([a.stop(), b.stop()]);
      }
    }
  },
);

test("waits for the whole lease of a leader that died, by its own clock, regardless of the times in the lease", async () => {
  const { clock, api } = setUp();
  const longAgo = "2001-01-01T00:00:00.000000Z";
  api.seed(leaseResource, {
    metadata: lease,
    spec: { holderIdentity: "dead", leaseDurationSeconds: 15, acquireTime: longAgo, renewTime: longAgo },
  });
  const b = joinElection(api, clock, "b");
  await clock.advance(14_900);
  expect(b.isLeader()).toBe(false);
  await clock.advance(2_600);
  expect(b.isLeader()).toBe(true);
  await b.stop();
});

test("warns once that the namespace of the lease does not exist, and leads when it does", async () => {
  const { clock, api } = setUp();
  const error = new ApiError({
    status: 404,
    reason: "NotFound",
    message: 'namespaces "default" not found',
    details: { name: "default", kind: "namespaces" },
  });
  api.inject({ verb: "create", error, times: 5 });
  const lines: string[] = [];
  const a = joinElection(api, clock, "a", [lease], undefined, (level, message, fields) => {
    if (level === "warn") lines.push(`${message}: ${String(fields?.["remedy"])}`);
  });
  await clock.advance(120_000);
  expect(lines).toEqual(['The namespace of the lease does not exist: Create it: "kubectl create namespace default".']);
  expect(a.isLeader()).toBe(true);
  await a.stop();
});

test("leads on through failures that are shorter than the deadline, and renews with its next try (throttling, conflicts, lost answers)", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(0);
  for (const error of [tooManyRequestsError(), conflictError(), serverError(), unanswered()]) {
    api.inject({ verb: "replace", error });
    await clock.advance(2_000);
    expect(a.isLeader()).toBe(true);
    await clock.advance(4_000);
  }
  api.inject({ verb: "replace", error: unanswered(), phase: "after", times: 2 });
  await clock.advance(8_000);
  expect(a.isLeader()).toBe(true);
  expect(a.state.ended).toBeUndefined();
  await a.stop();
});

test("leads on when a renewal gets no response: its timeout leaves time for another", async () => {
  const { clock, api } = setUp();
  let lost = 0;
  const lossy = {
    ...api,
    replace: async (...args: Parameters<ApiClient["replace"]>) => {
      if (lost++ > 0) return api.replace(...args);
      await clock.sleep(args[2]?.timeoutMs ?? Infinity);
      throw unanswered();
    },
  } as typeof api;
  const a = joinElection(lossy, clock, "a");
  await clock.advance(60_000);
  expect([a.isLeader(), a.state.terms]).toEqual([true, 1]);
  await a.stop();
});

test("renews each retry period while the server is slow", async () => {
  const { clock, api } = setUp();
  const late = {
    ...api,
    replace: async (...args: Parameters<ApiClient["replace"]>) => {
      await clock.sleep(600);
      return api.replace(...args);
    },
  } as typeof api;
  const a = joinElection(late, clock, "a");
  await clock.advance(60_000);
  expect([a.isLeader(), a.state.terms]).toEqual([true, 1]);
  expect(api.calls.filter(({ verb }) => verb === "replace").length).toBeGreaterThan(20);
  const stopped = a.stop();
  await clock.advance(10_000);
  await stopped;
});

test("renews each retry period while its own pauses take too long: the computer is busy", async () => {
  const { clock, api } = setUp();
  const late: VirtualClock = { ...clock, sleep: (ms, signal) => clock.sleep(ms + 600, signal) };
  const a = joinElection(api, late, "a");
  await clock.advance(60_000);
  expect([a.isLeader(), a.state.terms]).toEqual([true, 1]);
  expect(api.calls.filter(({ verb }) => verb === "replace").length).toBeGreaterThan(20);
  await a.stop();
});

test("has lost ten seconds after its last renewal was sent, and does not come back", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(4_000);
  const before = a.state.untilMs;
  api.inject({ verb: "replace", error: unanswered(), times: 1_000 });
  await clock.advance(before - clock.monotonicMs() - 1);
  expect(a.isLeader()).toBe(true);
  await clock.advance(1);
  expect(a.isLeader()).toBe(false);
  await clock.advance(60_000);
  expect(a.state).toMatchObject({ ended: "the lease could not be renewed for 10000 ms", terms: 1 });
  await a.running;
  expect(spec(api)).toMatchObject({ holderIdentity: "a" });
});

test("has lost as soon as it sees another holder, or its own name in another term", async () => {
  for (const [change, because] of [
    [{ holderIdentity: "b" }, "b holds the lease"],
    [{ acquireTime: "2026-02-01T00:00:00.000000Z" }, "another process uses the same identity"],
  ] as const) {
    const { clock, api } = setUp();
    const a = joinElection(api, clock, "a");
    await clock.advance(0);
    api.change(leaseResource, lease, { spec: change });
    await clock.advance(4_000);
    expect(a.state.ended).toBe(because);
    await a.running;
  }
});

test("recreates a deleted lease", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(0);
  const b = joinElection(api, clock, "b");
  await clock.advance(1_000);
  api.remove(leaseResource, lease);
  await clock.advance(5_000);
  expect([a.isLeader(), b.isLeader()]).toEqual([true, false]);
  expect(spec(api)).toMatchObject({ holderIdentity: "a" });
  await Promise.all([a.stop(), b.stop()]);
});

test("takes up the term whose beginning was carried out and not answered", async () => {
  const { clock, api } = setUp();
  api.inject({ verb: "create", error: unanswered(), phase: "after" });
  const a = joinElection(api, clock, "a");
  await clock.advance(2_500);
  expect(a.isLeader()).toBe(true);
  await a.stop();
});

test("gives the lease up and back when the process that it leads is stalled", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(0);
  a.state.stalled = true;
  await clock.advance(2_000);
  expect(a.state.ended).toBe("stalled");
  await a.running;
  expect(spec(api)).toMatchObject({ holderIdentity: "" });
});

/** An API behind a network that is late and lossy: quality 1 is a good one, 0 carries nothing. */
function throughNetwork(api: FakeApi, clock: VirtualClock, random: () => number, quality: () => number) {
  async function travel<T>(call: () => Promise<T>, signal?: AbortSignal, timeoutMs = 5_000): Promise<T> {
    const latency = () => clock.sleep(20 + random() ** 2 * (1 - quality()) * timeoutMs * 1.5, signal);
    const sentMs = clock.monotonicMs();
    await latency();
    if (random() >= quality()) throw unanswered();
    // The server carries out what arrives, however late.
    const answer = await call();
    await latency();
    if (random() >= quality() || clock.monotonicMs() - sentMs > timeoutMs) throw unanswered();
    return answer;
  }
  const wrapped: Pick<ApiClient, "get" | "create" | "replace"> = {
    get: (type, ref, options) => travel(() => api.get(type, ref), options?.signal, options?.timeoutMs),
    create: (type, object, options) => travel(() => api.create(type, object), options?.signal, options?.timeoutMs),
    replace: (type, object, options) => travel(() => api.replace(type, object), options?.signal, options?.timeoutMs),
  };
  return wrapped;
}

/** Three processes, which each restart with another identity after they lost. */
function createFleet(seed: number) {
  const { clock, api } = setUp();
  const random = seededRandom(seed);
  const qualities = [1, 1, 1];
  let started = 0;
  const start = (index: number) =>
    joinElection(
      throughNetwork(api, clock, random.next, () => qualities[index] ?? 1),
      clock,
      `${"abc".charAt(index)}-${started++}`,
    );
  const electors = qualities.map((_, index) => start(index));
  let changes = 0;
  let last = -1;
  return {
    qualities,
    leader: () => electors.findIndex((elector) => elector.isLeader()),
    /** How often the leader changed. */
    changes: () => changes,
    async pass(forMs: number) {
      for (let passed = 0; passed < forMs; passed += 250) {
        await clock.advance(250);
        const leaders = electors.flatMap((elector, index) => (elector.isLeader() ? [index] : []));
        expect(leaders.length).toBeLessThanOrEqual(1);
        const [leader = last] = leaders;
        if (leader !== last) changes++;
        last = leader;
        for (const [index, { state }] of electors.entries())
          if (state.ended !== undefined) electors[index] = start(index);
      }
    },
    async stop() {
      const stopped = Promise.all(electors.map((elector) => elector.stop()));
      await clock.advance(20_000);
      await stopped;
    },
  };
}

test("never lets two lead at once, whatever the network does to them, and has a leader again once it is well", async () => {
  const fault = fc.record({
    who: fc.constantFrom("leader", 0, 1, 2),
    quality: fc.constantFrom(0, 0, 0.3, 0.7, 1),
    forMs: fc.integer({ min: 5_000, max: 40_000 }),
  });
  let changes = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { minLength: 1, maxLength: 10 }), fc.integer(), async (faults, seed) => {
      const fleet = createFleet(seed);
      await fleet.pass(10_000);
      for (const { who, quality, forMs } of faults) {
        const index = who === "leader" ? Math.max(0, fleet.leader()) : Number(who);
        fleet.qualities[index] = quality;
        await fleet.pass(forMs);
        if (who === "leader") fleet.qualities[index] = 1;
      }
      fleet.qualities.fill(1);
      // A renewal that was sent before may arrive 7.5 s late and hold for one who has given up: then its 15 s, a retry period of 2.4 s at most, and the way.
      await fleet.pass(30_000);
      expect(fleet.leader()).toBeGreaterThanOrEqual(0);
      changes += fleet.changes();
      await fleet.stop();
    }),
    { numRuns: 100 },
  );
  // Otherwise it would prove nothing.
  expect(changes).toBeGreaterThan(150);
}, 60_000);

test("reports a lease that is older than before, once", async () => {
  const { clock, api } = setUp();
  const a = joinElection(api, clock, "a");
  await clock.advance(10_000);
  const old = api.peek(leaseResource, lease);
  await clock.advance(10_000);
  expect(a.state.rewinds).toEqual([]);
  let isRestored = true;
  const restored = { ...api, replace: () => Promise.reject(conflictError()), get: () => Promise.resolve(old) };
  const b = joinElection(
    {
      create: api.create,
      replace: (...call) => (isRestored ? restored.replace() : api.replace(...call)),
      get: (...call) => (isRestored ? (restored.get() as never) : api.get(...call)),
    },
    clock,
    "b",
  );
  isRestored = false;
  await clock.advance(20_000);
  isRestored = true;
  await clock.advance(20_000);
  expect(b.state.rewinds).toEqual([expect.stringMatching(/^l at version \d+ after version \d+$/)]);
  await Promise.all([a.stop(), b.stop()]);
});
