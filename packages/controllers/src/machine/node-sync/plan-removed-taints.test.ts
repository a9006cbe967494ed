import { machineResource, type Taint } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { aMachine } from "../../testing/builders.ts";
import type { Node } from "../../model/node-objects.ts";
import { nodeRef, ref, setUp } from "../../testing/machine-process.ts";
import { itsNode } from "../../testing/snapshots.ts";
import type { RestoredTaint } from "../state/restored-taints.ts";
import { planRemovedTaints } from "./plan-removed-taints.ts";

const tier: Taint = { key: "tier", value: "web", effect: "NoSchedule" };
const gpu: Taint = { key: "gpu", effect: "NoExecute" };
const plan = (removed: readonly Taint[], before: Readonly<Record<string, RestoredTaint>> = {}) =>
  planRemovedTaints(removed, new Map(Object.entries(before)), aMachine(), itsNode());

describe("taints of the template that another client removed", () => {
  it("are put back at once for the first time, without an event", () => {
    expect(plan([tier, gpu])).toEqual({ restored: [tier, gpu], deferred: [], because: [] });
    expect(plan([])).toEqual({ restored: [], deferred: [], because: [] });
  });

  it.each([
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [7, 600_000],
    [2_000, 600_000],
  ])("are put back after being put back %i times when %i ms are over", (times, delayMs) => {
    expect(plan([tier, gpu], { "tier:NoSchedule": { times, agoMs: delayMs - 400 } })).toMatchObject({
      restored: [gpu],
      deferred: [tier],
      requeueAfterMs: 400,
      because: [],
    });
    expect(plan([tier], { "tier:NoSchedule": { times, agoMs: delayMs } })).toMatchObject({ restored: [tier] });
  });

  it("are reported with the second time only, with the node, the taint and the field manager", () => {
    const eventsOf = (times: number, manager?: string) =>
      plan([tier], { "tier:NoSchedule": { times, agoMs: 600_000, manager } }).because;
    expect(eventsOf(1, "kubectl-taint")).toEqual([
      {
        type: "Warning",
        reason: "TaintRemoved",
        message:
          "Field manager kubectl-taint removes or changes taint tier=web:NoSchedule of Node node again and again. The template of machine machine has it, so it is put back after a delay that grows to 10m. Remove it from the template, or stop the other client",
      },
    ]);
    expect(eventsOf(1)[0]?.message).toMatch(/^Another client removes/);
    expect(eventsOf(2)).toEqual([]);
  });
});

describe("a client that removes a taint of the template as often as it is there", () => {
  const taints = [tier, gpu];
  async function fighting() {
    const cluster = setUp();
    cluster.create({ spec: { nodeTemplate: { spec: { taints } } } });
    await cluster.start();
    await cluster.clock.advance(10);
    cluster.join();
    await cluster.clock.advance(1_000);
    const node = () => cluster.api.peek<Node>(nodeResource, nodeRef);
    const patches = () => cluster.api.writes().filter(({ resource }) => resource.startsWith("nodes")).length;
    /** Lets time go by, in which the client acts ten times a second. */
    const pass = async (seconds: number): Promise<number> => {
      const before = patches();
      for (let tick = 0; tick < seconds * 10; tick++) {
        const others = (node()?.spec?.taints ?? []).filter(({ key }) => key !== tier.key);
        if (others.length !== node()?.spec?.taints?.length)
          cluster.api.change(nodeResource, nodeRef, { spec: { taints: others } });
        await cluster.clock.advance(100);
      }
      return patches() - before;
    };
    return { ...cluster, node, patches, pass };
  }

  it("causes two writes in the first ten seconds, and nine in the first hour", async () => {
    const { pass, node, phase } = await fighting();
    expect(await pass(9)).toBe(1);
    expect(await pass(2)).toBe(1);
    expect(await pass(3_589)).toBeLessThanOrEqual(11);
    expect(phase()).toBe("Running");
    expect(node()?.spec?.taints?.map(({ key }) => key)).toEqual([gpu.key]);
  });

  it("loses when it stops: the taint is put back within ten minutes", async () => {
    const { pass, node, clock } = await fighting();
    await pass(600);
    await clock.advance(600_000);
    expect(node()?.spec?.taints).toEqual([gpu, tier]);
  });

  it("ends the delay with its taint in the template", async () => {
    const { pass, api, clock, node } = await fighting();
    await pass(60);
    const without = [gpu];
    api.change(machineResource, ref, { spec: { nodeTemplate: { spec: { taints: without } } } });
    await clock.advance(10);
    api.change(machineResource, ref, { spec: { nodeTemplate: { spec: { taints } } } });
    await clock.advance(10);
    expect(node()?.spec?.taints).toEqual([gpu, tier]);
  });

  it("is known to the next process after one write more", async () => {
    const { pass, start, stopAll } = await fighting();
    await pass(60);
    await stopAll();
    await start();
    expect(await pass(9)).toBe(1);
    expect(await pass(2)).toBe(1);
  });

  it("causes no more writes where they are refused for an hour, and the taint comes back after it", async () => {
    const { pass, api, node, clock } = await fighting();
    const times = 1_000;
    api.inject({ verb: "patch", type: nodeResource, error: serverError(), times });
    const writes = await pass(3_600);
    expect(writes).toBeLessThan(100);
    expect(node()?.spec?.taints).toEqual([gpu]);
    for (let left = times - writes; left > 0; left--)
      await api.patch(nodeResource, nodeRef, {}, { kind: "merge" }).catch(() => undefined);
    // The queue retries after up to twice its longest delay.
    await clock.advance(1_800_000);
    expect(node()?.spec?.taints).toEqual([gpu, tier]);
  });
});
