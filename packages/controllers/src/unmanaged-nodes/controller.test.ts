import { annotationKeys, finalizers, labelKeys, machineResource } from "@millwright/core/machine-api";
import { nodeResource, type ServerHistory } from "@millwright/kube";
import { expect, it, onTestFinished } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { aMachine, aNode } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createUnmanagedNodeController } from "./controller.ts";

const MINUTE = 60_000;
const ref = { name: "node-1" };
const ours = { finalizers: [finalizers.node] };

/** The controller on a cluster with one Node that is as old as the clock. */
async function setUp(metadata: Partial<Node["metadata"]> = {}) {
  const { api, clock, newContext, run } = createTestCluster();
  api.seed(nodeResource, aNode({ metadata: { ...ref, creationTimestamp: clock.now().toISOString(), ...metadata } }));
  let epoch = 0;
  const history: ServerHistory = {
    epoch: () => epoch,
    report: () => void epoch++,
    suspect: () => undefined,
    onRewind: () => () => undefined,
  };
  const context = newContext();
  const target = { ...context.target, api: { ...api, history } };
  const controller = createUnmanagedNodeController({ ...context, target }, { creationTimeoutMs: 20 * MINUTE });
  const stop = new AbortController();
  await run(context, stop.signal);
  const running = controller.start(stop.signal);
  onTestFinished(async () => {
    stop.abort(new Error("the test is over"));
    await running;
  });
  const node = (): Node | undefined => api.peek<Node>(nodeResource, ref);
  const mark = (): string | undefined => node()?.metadata.annotations?.[annotationKeys.notManaged];
  return { api, clock, controller, node, mark, history };
}

const itsMachine = aMachine({ metadata: { labels: { [labelKeys.node]: "node-1" } } });

it("marks a Node after the creation timeout, and takes the mark away when it has a Machine", async () => {
  const { api, clock, node, mark } = await setUp(ours);
  await clock.advance(19 * MINUTE);
  expect([mark(), node()?.metadata.finalizers]).toEqual([undefined, [finalizers.node]]);
  await clock.advance(2 * MINUTE);
  expect([mark(), node()?.metadata.finalizers]).toEqual(["1", []]);
  api.seed(machineResource, itsMachine);
  await clock.advance(MINUTE);
  expect(mark()).toBeUndefined();
});

it("marks the Node of a Machine that is gone, five minutes after", async () => {
  const { api, clock, mark } = await setUp(ours);
  api.seed(machineResource, itsMachine);
  await clock.advance(60 * MINUTE);
  expect(mark()).toBeUndefined();
  api.remove(machineResource, { namespace: itsMachine.metadata.namespace, name: itsMachine.metadata.name });
  await clock.advance(4 * MINUTE);
  expect(mark()).toBeUndefined();
  await clock.advance(2 * MINUTE);
  expect(mark()).toBe("1");
});

it("does not fight over the mark with another installation", async () => {
  const { api, clock, mark } = await setUp();
  await clock.advance(30 * MINUTE);
  expect(mark()).toBe("1");
  api.change(nodeResource, ref, { metadata: { annotations: { [annotationKeys.notManaged]: null } } });
  const writes = api.writes().length;
  await clock.advance(60 * MINUTE);
  expect([mark(), api.writes().length]).toEqual([undefined, writes]);
});

it("marks a Node again that a restored API server has without the mark", async () => {
  const { api, clock, node, mark, history } = await setUp(ours);
  await clock.advance(30 * MINUTE);
  expect([mark(), node()?.metadata.finalizers]).toEqual(["1", []]);
  history.report({ resource: "nodes", found: "a list at version 1 after version 2" });
  api.change(nodeResource, ref, { metadata: { annotations: { [annotationKeys.notManaged]: null }, ...ours } });
  await clock.advance(10 * MINUTE);
  expect([mark(), node()?.metadata.finalizers]).toEqual(["1", []]);
});

it("costs nothing while heartbeats come", async () => {
  const { api, clock, controller } = await setUp(ours);
  api.seed(machineResource, itsMachine);
  await clock.advance(MINUTE);
  const before = controller.counts().reconciles;
  for (let beat = 0; beat < 10; beat++) {
    const lastHeartbeatTime = clock.now().toISOString();
    api.change(nodeResource, ref, { status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime }] } });
    await clock.advance(MINUTE);
  }
  expect([controller.counts().reconciles, api.writes()]).toEqual([before, []]);
});
