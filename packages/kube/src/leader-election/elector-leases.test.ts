import { createVirtualClock } from "@millwright/base/testing";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { leaseResource } from "../objects/built-in-resources.ts";
import { serverError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { joinElection } from "../testing/join-election.ts";

const first = { namespace: "default", name: "first" };
const second = { namespace: "default", name: "second" };

type Candidate = ReturnType<typeof joinElection>;

/** Processes that take part in elections of one API server: each can be killed, stopped and started. */
function setUp() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  let started = 0;
  const start = (leases = [first, second]) => {
    let isDead = false;
    // A killed process sends nothing more.
    const send = <T>(request: () => Promise<T>): Promise<T> => (isDead ? new Promise<T>(() => {}) : request());
    const candidate = joinElection(
      {
        get: (...call) => send(() => api.get(...call)),
        create: (...call) => send(() => api.create(...call)),
        replace: (...call) => send(() => api.replace(...call)),
      },
      clock,
      `${leases.map(({ name }) => name).join("+")}-${started++}`,
      leases,
    );
    return {
      ...candidate,
      isLeader: () => !isDead && candidate.isLeader(),
      kill: () => {
        isDead = true;
      },
    };
  };
  const holderOf = (lease: typeof first): unknown => {
    const spec = api.peek(leaseResource, lease)?.["spec"];
    return (spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity ?? "";
  };
  return { clock, api, start, holderOf };
}

test("leads only with all leases, and releases all of them on a clean stop", async () => {
  const { clock, start, holderOf } = setUp();
  const leader = start();
  await clock.advance(0);
  expect([leader.isLeader(), leader.state.terms]).toEqual([true, 1]);
  const standby = start();
  await clock.advance(60_000);
  expect([leader.isLeader(), standby.isLeader()]).toEqual([true, false]);
  expect(holderOf(first)).toBe(holderOf(second));
  await leader.stop();
  expect([holderOf(first), holderOf(second)]).toEqual(["", ""]);
  await clock.advance(2_400);
  expect(standby.isLeader()).toBe(true);
  await standby.stop();
});

test.each([
  [first, second],
  [second, first],
])("takes no lease while another process holds %j", async (held, free) => {
  const { clock, start, holderOf } = setUp();
  const other = start([held]);
  await clock.advance(0);
  const candidate = start();
  for (let seconds = 0; seconds < 120; seconds++) {
    await clock.advance(1_000);
    expect(holderOf(free)).toBe("");
  }
  const restarted = start([free]);
  await clock.advance(2_400);
  expect([other, restarted, candidate].map((process) => process.isLeader())).toEqual([true, true, false]);
  await Promise.all([other.stop(), restarted.stop()]);
  await clock.advance(2_400);
  expect(candidate.isLeader()).toBe(true);
  await candidate.stop();
});

test("leads within one lease duration and 5 s after the leader of both leases was killed", async () => {
  for (let afterMs = 0; afterMs < 4_000; afterMs += 250) {
    const { clock, start } = setUp();
    const leader = start();
    await clock.advance(0);
    const standby = start();
    await clock.advance(30_000 + afterMs);
    leader.kill();
    await clock.advance(20_000);
    expect(standby.isLeader()).toBe(true);
    const stopped = standby.stop();
    await clock.advance(20_000);
    await stopped;
  }
});

test("releases the first lease when the second cannot be acquired, and retries less and less often", async () => {
  const { clock, api, start, holderOf } = setUp();
  const refused: number[] = [];
  const create = api.create.bind(api);
  Object.assign(api, {
    create: (...call: Parameters<typeof create>) => {
      if (call[1].metadata.name !== second.name) return create(...call);
      refused.push(clock.monotonicMs());
      return Promise.reject(serverError());
    },
  });
  const candidate = start();
  await clock.advance(60_000);
  expect(candidate.isLeader()).toBe(false);
  expect(holderOf(first)).toBe("");
  const pauses = refused.slice(1).map((ms, index) => ms - (refused[index] ?? 0));
  expect(pauses.slice(0, 2).map((ms) => Math.floor(ms / 4_000))).toEqual([1, 2]);
  expect(Math.max(...pauses)).toBeLessThan(15_500);
  await candidate.stop();
});

test("takes no other lease when the first cannot be acquired", async () => {
  const { clock, api, start } = setUp();
  api.inject({ verb: "create", key: "default/first", error: serverError(), times: Infinity });
  const candidate = start();
  await clock.advance(30_000);
  expect(api.peek(leaseResource, second)).toBeUndefined();
  await candidate.stop();
});

test("takes no lease while it cannot read one of them", async () => {
  const { clock, api, start, holderOf } = setUp();
  const [one, other] = [start([first]), start([second])];
  await clock.advance(0);
  const candidate = start();
  await clock.advance(5_000);
  await other.stop();
  await clock.advance(5_000);
  api.inject({ verb: "get", key: "default/second", error: serverError(), times: Infinity });
  await one.stop();
  for (let seconds = 0; seconds < 60; seconds++) {
    await clock.advance(1_000);
    expect([holderOf(first), holderOf(second)]).toEqual(["", ""]);
  }
  await candidate.stop();
});

test("leads no longer than the lease that was renewed least recently", async () => {
  const { clock, api, start } = setUp();
  const leader = start();
  await clock.advance(4_500);
  expect(leader.state.untilMs).toBe(14_000);
  api.inject({ verb: "replace", key: "default/second", error: serverError(), times: Infinity });
  await clock.advance(6_000);
  expect(leader.state.untilMs).toBe(14_000);
  const stopped = leader.stop();
  await clock.advance(20_000);
  await stopped;
});

test("keeps the other lease after one is lost until the process has stopped, and then releases it", async () => {
  const { clock, api, start, holderOf } = setUp();
  const leader = start();
  await clock.advance(10_000);
  api.change(leaseResource, first, { spec: { holderIdentity: "thief" } });
  await clock.advance(2_000);
  expect(leader.state.ended).toBe("thief holds the lease");
  expect(holderOf(second)).not.toBe("");
  await leader.stop();
  expect([holderOf(first), holderOf(second)]).toEqual(["thief", ""]);
});

const roles = ["leader", "standby", "mcm", "provider"] as const;
type Role = (typeof roles)[number];
const leasesOf = { leader: [first, second], standby: [first, second], mcm: [first], provider: [second] };

/** Millwright, its standby, and MCM's two programs, of which each holds one of the leases. */
function createWorld() {
  const { clock, start } = setUp();
  const processes = new Map<Role, Candidate & { readonly kill: () => void }>();
  const alone = { mcm: 0, provider: 0 };
  const leads = (role: Role): boolean => processes.get(role)?.isLeader() ?? false;
  return {
    leads,
    start: (role: Role) => void processes.set(role, start(leasesOf[role])),
    async end(role: Role, how: "kill" | "stop") {
      const process = processes.get(role);
      processes.delete(role);
      if (how === "kill") process?.kill();
      else await process?.stop();
    },
    /** Lets time pass, in which no two act at once, and none of MCM's programs waits for a Millwright that does not lead. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 500) {
        await clock.advance(500);
        const millwrights = [leads("leader"), leads("standby")].filter(Boolean).length;
        expect(millwrights).toBeLessThanOrEqual(1);
        for (const role of ["mcm", "provider"] as const) {
          expect(leads(role) && millwrights > 0).toBe(false);
          const isWaiting = processes.has(role) && !leads(role) && millwrights === 0;
          alone[role] = isWaiting ? alone[role] + 500 : 0;
          expect(alone[role]).toBeLessThan(21_000);
        }
      }
    },
  };
}

const orders = (left: readonly Role[]): Role[][] =>
  left.length === 0
    ? [[]]
    : left.flatMap((role) => orders(left.filter((other) => other !== role)).map((order) => [role, ...order]));

test.each(["kill", "stop"] as const)("ends no order of restarts (%s) without a leader", async (how) => {
  for (const order of orders(roles)) {
    const world = createWorld();
    for (const role of order) world.start(role);
    await world.pass(25_000);
    for (const role of order) {
      await world.end(role, how);
      await world.pass(1_000);
      world.start(role);
    }
    await world.pass(25_000);
    const isLed = world.leads("leader") || world.leads("standby") || (world.leads("mcm") && world.leads("provider"));
    expect([order, isLed]).toEqual([order, true]);
  }
});

test("has a leader at the end of any series of starts and ends", async () => {
  const event = fc.record({
    role: fc.constantFrom(...roles),
    how: fc.constantFrom("kill" as const, "stop" as const, "start" as const),
    forMs: fc.integer({ min: 0, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), async (events) => {
      const world = createWorld();
      const alive = new Set<Role>();
      for (const { role, how, forMs } of events) {
        if (how === "start" && !alive.has(role)) world.start(role);
        else if (how !== "start") await world.end(role, how);
        if (how === "start") alive.add(role);
        else alive.delete(role);
        await world.pass(forMs);
      }
      for (const role of roles) if (!alive.has(role)) world.start(role);
      await world.pass(45_000);
      const isLed = world.leads("leader") || world.leads("standby") || (world.leads("mcm") && world.leads("provider"));
      expect(isLed).toBe(true);
    }),
    { numRuns: 60 },
  );
}, 60_000);
