import { machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import type { ApiClient, Log } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { ManagerOptions } from "./manager-options.ts";
import { aDriver } from "../testing/fake-driver.ts";
import { aCloud, aManager, aSet, namespace } from "../testing/managed.ts";

/** A manager of one set, over an API server whose requests the test can change. */
async function managing(
  replicas: number,
  change: (api: ApiClient) => Partial<ApiClient>,
  driver = aCloud().driver,
  options: Pick<ManagerOptions, "log"> = {},
) {
  const clock = createVirtualClock();
  const inner = createFakeApi({ clock });
  const managed = aManager(
    driver,
    { control: { ...inner, ...change(inner) }, target: inner, ...options },
    clock,
    inner,
  );
  const { api, manager, stop } = managed;
  const state = { isOver: false };
  const running = manager.start(stop.signal).then(() => (state.isOver = true));
  await manager.ready(stop.signal);
  api.seed(machineSetResource, aSet(replicas));
  await clock.advance(5_000);
  return { ...managed, running, state };
}

describe("a manager that stops", () => {
  it("ends at once when it was stopped before it started, also with leader election", async () => {
    const clock = createVirtualClock();
    const api = createFakeApi({ clock });
    const leadership = {
      lost: new AbortController().signal,
      acquired: (signal?: AbortSignal) => Promise.reject(signal?.reason),
      fence: () => undefined,
      stop: () => Promise.resolve(),
      isLeaderKnown: () => true,
    };
    const { manager, stop } = aManager(aCloud().driver, { control: api, target: api, leadership }, clock, api);
    stop.abort(new Error("stopped by SIGTERM"));
    const ended = manager.start(stop.signal).then(
      () => "ended",
      () => "failed",
    );
    await clock.advance(60_000);
    expect(await Promise.race([ended, new Promise((resolve) => setImmediate(() => resolve("hangs")))])).toBe("ended");
  });

  it("hands no machine over when one of its parts has failed, whose cache may be outdated", async () => {
    let isBroken = false;
    const log: Log = () => {
      // A log must not throw: this one stands for a fault in any part.
      if (isBroken) throw new Error("the disk is on fire");
    };
    const hanging = aDriver({ createMachine: () => new Promise<never>(() => {}) });
    const { api, clock, machines, phases, running } = await managing(1, () => ({}), hanging, { log });
    const failed = running.catch((error: unknown) => error);
    await api.delete(machineResource, { namespace, name: machines()[0]?.metadata.name ?? "" });
    await clock.advance(2_000);
    isBroken = true;
    api.inject({ type: machineSetResource, error: serverError(), times: 10 });
    api.endWatches();
    await clock.advance(20_000);
    expect(await failed).toMatchObject({ message: "the disk is on fire" });
    expect(phases()).not.toContain("Terminating");
  });

  it("leaves every machine that is being deleted as Terminating, also one whose creation is in flight", async () => {
    const hanging = aDriver({ createMachine: () => new Promise<never>(() => {}) });
    const { api, clock, stop, machines, phases, running } = await managing(2, () => ({}), hanging);
    const [{ metadata } = { metadata: { name: "" } }] = machines();
    await api.delete(machineResource, { namespace, name: metadata.name });
    await clock.advance(2_000);
    expect(phases()).not.toContain("Terminating");
    stop.abort(new Error("stop"));
    await clock.advance(2_000);
    await running;
    const deleted = machines().find(({ metadata: { name } }) => name === metadata.name);
    expect(deleted?.status).toMatchObject({
      currentStatus: { phase: "Terminating" },
      lastOperation: {
        description: "Set machine status to termination. Now, getting VM Status",
        state: "Processing",
        type: "Delete",
      },
    });
    expect(phases().filter((phase) => phase === "Terminating")).toHaveLength(1);
  });

  it("ends the reconciles of sets and deployments before it hands machines over, so that what they delete becomes Terminating, too", async () => {
    let deletions = 0;
    const slow = (api: ApiClient): Partial<ApiClient> => ({
      delete: async (...call) => {
        await new Promise<void>((resolve) => pending.push(resolve));
        deletions++;
        return api.delete(...call);
      },
    });
    const pending: (() => void)[] = [];
    const { api, clock, stop, machines, phases, running, state } = await managing(3, slow);
    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 0 } });
    await clock.advance(2_000);
    expect([pending.length > 0, deletions]).toEqual([true, 0]);
    stop.abort(new Error("stop"));
    await clock.advance(1_000);
    expect(state.isOver).toBe(false);
    while (pending.length > 0) {
      pending.shift()?.();
      await clock.advance(500);
    }
    await clock.advance(3_000);
    await running;
    expect(deletions).toBeGreaterThan(0);
    const left = machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(left.map(({ status }) => status?.currentStatus?.phase)).toEqual(left.map(() => "Terminating"));
    expect(phases()).not.toContain("Running");
  });

  it("stops within 12 s when the API server does not answer, and writes nothing after that", async () => {
    let isSilent = false;
    const late: (() => unknown)[] = [];
    const silent = (api: ApiClient): Partial<ApiClient> => ({
      patch: (type, ref, patch, options) =>
        isSilent
          ? new Promise((_, reject) => {
              options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
              late.push(() => options.beforeSend?.());
            })
          : api.patch(type, ref, patch, options),
    });
    const { api, clock, stop, running, state } = await managing(1, silent);
    isSilent = true;
    api.change(machineSetResource, { namespace, name: "pool" }, { spec: { replicas: 2 } });
    await clock.advance(1_000);
    expect(late.length).toBeGreaterThan(0);
    stop.abort(new Error("stop"));
    await clock.advance(9_000);
    expect(state.isOver).toBe(false);
    await clock.advance(3_100);
    expect(state.isOver).toBe(true);
    await running;
    for (const send of late) expect(send).toThrow("stopping takes too long");
  });
});
