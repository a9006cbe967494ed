import { seededRandom } from "@millwright/base";
import { machineResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, createExpectations } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createControlCaches } from "../cluster/caches.ts";
import { aMachine, beingDeleted, named, refOf, testNamespace } from "../testing/builders.ts";
import { settleUnanswered } from "./unanswered-requests.ts";

const key = "shop/pool-1";
const withUid = (uid: string) => ({ metadata: { uid } });

/** A cache whose watch is broken, and a server that may know more. */
async function setUp() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const caches = createControlCaches({ api, clock, random: seededRandom(1), namespace: testNamespace });
  const expectations = createExpectations({ clock, timeoutMs: 90_000 });
  const cached = api.seed(machineResource, aMachine(named("a"), withUid("uid-a")));
  caches.machines.store.applyWrite(cached);
  return {
    api,
    expectations,
    names: () => caches.machines.store.list().map(({ metadata }) => metadata.name),
    cached: () => caches.machines.store.getByRef(refOf("a")),
    settle: () => settleUnanswered(key, expectations, { control: api, caches, namespace: testNamespace }),
    later: () => clock.advance(90_000),
  };
}

describe("a request of a MachineSet whose response was lost", () => {
  it("is not looked into before it has certainly ended", async () => {
    const { api, expectations, settle } = await setUp();
    expectations.expectCreation(key, "b");
    await settle();
    expect([expectations.satisfied(key), api.calls]).toEqual([false, []]);
  });

  it("is done when the machine exists, which is in the cache from then on", async () => {
    const { api, expectations, names, settle, later } = await setUp();
    expectations.expectCreation(key, "b");
    api.seed(machineResource, aMachine(named("b")));
    await later();
    await settle();
    expect([expectations.satisfied(key), names()]).toEqual([true, ["a", "b"]]);
  });

  it("is given up when the machine does not exist", async () => {
    const { expectations, names, settle, later } = await setUp();
    expectations.expectCreation(key, "b");
    await later();
    await settle();
    expect([expectations.satisfied(key), names()]).toEqual([true, ["a"]]);
  });

  it("stays in doubt while the API server does not answer", async () => {
    const { api, expectations, settle, later } = await setUp();
    expectations.expectCreation(key, "b");
    await later();
    api.inject({ verb: "get", error: new ApiError({ status: 0, reason: "Unreachable", message: "no route" }) });
    await expect(settle()).rejects.toThrow("no route");
    expect(expectations.outstanding(key)?.creations).toEqual(["b"]);
  });

  it("does not delay what is known of the others", async () => {
    const { api, expectations, settle, later } = await setUp();
    for (const name of ["b", "c"]) expectations.expectCreation(key, name);
    await later();
    api.inject({
      verb: "get",
      times: 1,
      error: new ApiError({ status: 0, reason: "Unreachable", message: "no route" }),
    });
    await expect(settle()).rejects.toThrow("no route");
    expect(expectations.outstanding(key)?.creations).toEqual(["b"]);
  });

  it("is a deletion that failed when the machine is not being deleted", async () => {
    const { expectations, cached, settle, later } = await setUp();
    expectations.expectDeletion(key, "uid-a");
    await later();
    await settle();
    expect([expectations.satisfied(key), cached()?.metadata.deletionTimestamp]).toEqual([true, undefined]);
  });

  it("is a deletion that began when the machine is terminating", async () => {
    const { api, expectations, cached, settle, later } = await setUp();
    expectations.expectDeletion(key, "uid-a");
    const { deletionTimestamp } = beingDeleted().metadata;
    api.change(machineResource, refOf("a"), { metadata: { deletionTimestamp, finalizers: ["x"] } });
    await later();
    await settle();
    expect([expectations.satisfied(key), cached()?.metadata.deletionTimestamp]).toEqual([true, deletionTimestamp]);
  });

  it.each([
    ["is gone", false],
    ["was created again", true],
  ])("is a deletion that ended when the machine %s", async (_, isCreatedAgain) => {
    const { api, expectations, cached, settle, later } = await setUp();
    expectations.expectDeletion(key, "uid-a");
    api.remove(machineResource, refOf("a"));
    if (isCreatedAgain) api.seed(machineResource, aMachine(named("a"), withUid("uid-new")));
    await later();
    await settle();
    expect([expectations.satisfied(key), cached()?.metadata.uid]).toEqual([
      true,
      isCreatedAgain ? "uid-new" : undefined,
    ]);
  });
});
