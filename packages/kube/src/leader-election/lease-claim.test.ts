import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { leaseResource } from "../objects/built-in-resources.ts";
import { serverError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { createLeaseClaim } from "./lease-claim.ts";
import { readElectionTimes } from "./settings.ts";

const lease = { namespace: "default", name: "l" };

/** A claim to a lease that does not exist yet; writes are answered after `latencyMs`. */
async function aClaim() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const network = { latencyMs: 0 };
  const logged: string[] = [];
  const slow: Pick<typeof api, "get" | "create" | "replace"> = {
    get: (...call) => api.get(...call),
    create: (...call) => api.create(...call),
    async replace(...call) {
      const answer = await api.replace(...call);
      await clock.sleep(network.latencyMs);
      return answer;
    },
  };
  const claim = createLeaseClaim({
    api: slow,
    lease,
    identity: "a",
    settings: readElectionTimes(),
    clock,
    onHolder: () => undefined,
    onRewind: () => undefined,
    log: (_, message) => void logged.push(message),
  });
  const { signal } = new AbortController();
  await claim.read(signal);
  return { clock, api, network, claim, signal, logged };
}

test("a lease is held from when its renewal was sent, however late the answer", async () => {
  const { clock, network, claim, signal } = await aClaim();
  await claim.acquire(0, signal);
  expect(claim.heldUntilMs()).toBe(10_000);
  await clock.advance(2_000);
  network.latencyMs = 3_000;
  const renewed = claim.renew(signal);
  await clock.advance(3_000);
  await renewed;
  expect(claim.heldUntilMs()).toBe(12_000);
});

test.each([
  [9_999, 10_000],
  [10_000, undefined],
])("an own attempt without an answer, seen after %i ms, makes a lease held until %j", async (afterMs, untilMs) => {
  const { clock, api, claim, signal } = await aClaim();
  const error = serverError();
  api.inject({ verb: "create", error, phase: "after" });
  await expect(claim.acquire(0, signal)).rejects.toBe(error);
  await clock.advance(afterMs);
  await claim.read(signal);
  expect(claim.heldUntilMs()).toBe(untilMs);
  // Else it is like that of another process.
  expect(claim.decide()?.kind).toBe(untilMs === undefined ? "follow" : "renew");
});

test("the lease of another process with the same identity is not released", async () => {
  const { api, claim, signal } = await aClaim();
  await claim.acquire(0, signal);
  api.change(leaseResource, lease, { spec: { acquireTime: "2026-01-01T00:00:05.000000Z" } });
  await claim.read(signal);
  await claim.release();
  expect(api.peek(leaseResource, lease)?.["spec"]).toMatchObject({ holderIdentity: "a" });
});

test("is released when a renewal was stored whose answer never came", async () => {
  const { clock, api, claim, signal } = await aClaim();
  await claim.acquire(0, signal);
  await clock.advance(2_000);
  const error = serverError();
  api.inject({ verb: "replace", error, phase: "after" });
  await expect(claim.renew(signal)).rejects.toBe(error);
  const released = claim.release();
  await clock.advance(0);
  await released;
  expect(api.peek(leaseResource, lease)?.["spec"]).toMatchObject({ holderIdentity: "" });
});

test("is not released when another process has acquired it meanwhile", async () => {
  const { api, claim, signal, logged } = await aClaim();
  await claim.acquire(0, signal);
  api.change(leaseResource, lease, { spec: { holderIdentity: "b" } });
  await claim.release();
  expect(api.peek(leaseResource, lease)?.["spec"]).toMatchObject({ holderIdentity: "b" });
  expect(logged).not.toContain("Released the lease");
});

test("a term is over at its deadline", async () => {
  const { clock, claim, signal } = await aClaim();
  await claim.acquire(0, signal);
  await clock.advance(9_999);
  expect(claim.decide()?.kind).toBe("renew");
  await clock.advance(1);
  expect(claim.decide()?.kind).toBe("lost");
});
