import { taintKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { annotated } from "../../testing/builders.ts";
import { type LivingMachine, reconcileOnce } from "../../testing/living-machine.ts";
import { kindsOf, later, testNow } from "../../testing/snapshots.ts";
import { decidePreservation } from "./decide-preservation.ts";
import {
  aMachineIn,
  aNodeWith,
  aPod,
  autoscaler,
  drained,
  foreignTaint,
  future,
  unmarked,
  L,
  M,
  marksOf,
  newExpiry,
  once,
  P,
  past,
  plain,
  scaleDownDisabled,
  settle,
  taint,
  until,
  withoutNode,
  world,
} from "../../testing/preserved-machines.ts";

describe("a preservation that begins", () => {
  it("stores its expiry first, and nothing else in that reconcile", () => {
    const { decision } = once(
      world(aMachineIn("Failed", M("now"), { spec: { machinePreserveTimeout: "1h" } }), aNodeWith(), aPod("a")),
    );
    expect(decision.actions).toEqual([]);
    expect(decision.status?.currentStatus).toEqual({
      phase: "Failed",
      // The time of the phase stays.
      lastUpdateTime: "2026-01-01T00:07:00Z",
      preserveExpiryTime: "2026-01-01T01:10:00Z",
    });
    expect(decision.because).toEqual([
      {
        type: "Normal",
        reason: "Preserved",
        message:
          "Machine is preserved until 2026-01-01T01:10:00Z, as requested by node.machine.sapcloud.io/preserve=now",
      },
    ]);
  });

  it("ends to the second, by a timer", () => {
    const preserved = settle(world(aMachineIn("Running", M("now"))));
    expect(preserved.decision.requeueAfterMs).toBe(96 * 3_600_000);
    const end = later(96 * 3_600_000);
    expect(once(preserved.world, new Date(end.getTime() - 1)).decision.requeueAfterMs).toBe(1);
    expect(marksOf(settle(preserved.world, end).world)).toMatchObject({ E: undefined, M: undefined });
    const bare = settle(withoutNode(aMachineIn("Running", M("now"))));
    expect(bare.decision.requeueAfterMs).toBe(96 * 3_600_000);
  });

  it("is not renewed by later decisions", () => {
    const { world: preserved } = settle(world(aMachineIn("Running", M("now"))));
    expect(marksOf(settle(preserved, later(3_600_000)).world)).toMatchObject({ E: newExpiry });
  });

  it("marks the node in one patch that keeps the taints of others, for one version of the node", () => {
    const start = world(aMachineIn("Failed", M("now"), until(future)), aNodeWith({ taints: [foreignTaint] }));
    const { decision } = once(start);
    expect(decision.actions[0]).toEqual({
      kind: "PatchNode",
      name: "node",
      patch: {
        metadata: { annotations: autoscaler, resourceVersion: "7" },
        spec: {
          taints: [foreignTaint, { key: taintKeys.preserved, effect: "NoSchedule", timeAdded: "2026-01-01T00:10:00Z" }],
        },
      },
    });
  });

  it("also marks a node without a version", () => {
    const node = { ...aNodeWith(), metadata: { name: "node" } };
    const [mark] = once(world(aMachineIn("Failed", M("now"), until(future)), node)).decision.actions;
    expect(JSON.stringify(mark)).not.toContain("resourceVersion");
    const bare: Node = { metadata: { name: "node" } };
    expect(kindsOf(once(world(aMachineIn("Failed", M("now"), until(future)), bare)).decision)).toEqual([
      "PatchNode",
      "PatchNodeStatus",
    ]);
  });

  it.each(["true", "false", ""])(
    "leaves the autoscaler's annotation alone that a user has set to %j, from beginning to end",
    (value) => {
      const node = aNodeWith({ annotations: { [scaleDownDisabled]: value } });
      const { world: preserved } = settle(world(aMachineIn("Running", M("now")), node));
      expect(preserved.node?.metadata.annotations).toEqual({ [scaleDownDisabled]: value });
      const { world: ended } = settle(preserved, later(96 * 3_600_000));
      expect(ended.node?.metadata.annotations).toEqual({ [scaleDownDisabled]: value });
    },
  );
});

describe("a preservation that ends", () => {
  const preserved = (): LivingMachine =>
    world(
      aMachineIn("Failed", annotated({ [L]: "now" }), until(past)),
      aNodeWith({
        annotations: { ...autoscaler, [P]: "now", own: "x" },
        taints: [foreignTaint, taint],
        condition: drained(past),
        unschedulable: true,
      }),
      aPod("a"),
    );

  it("is removed from the node, then the machine, then the expiry, in one reconcile", () => {
    const { decision, world: end } = once(preserved());
    expect(kindsOf(decision)).toEqual(["PatchNode", "PatchNodeStatus", "PatchMachine"]);
    expect(decision.because).toEqual([
      { type: "Normal", reason: "PreservationStopped", message: "Machine is no longer preserved: it has expired" },
    ]);
    expect(end.node?.metadata.annotations).toEqual({ own: "x" });
    expect(end.node?.spec).toMatchObject({ unschedulable: true, taints: [foreignTaint] });
    expect(end.machine.status?.currentStatus).toEqual({ phase: "Failed", lastUpdateTime: "2026-01-01T00:07:00Z" });
    expect(end.pods).toHaveLength(1);
  });

  it.each([0, 1, 2, 3])("is repeated when the process dies after %i writes", (writes) => {
    const { world: halfway } = reconcileOnce(preserved(), decidePreservation, testNow, { writes });
    expect(halfway.machine.status?.currentStatus?.preserveExpiryTime).toBe(past);
    expect(marksOf(settle(halfway).world)).toEqual({
      ...unmarked,
      E: undefined,
      M: undefined,
      L: undefined,
      N: undefined,
    });
  });

  it.each<[string, boolean, boolean]>([
    ["its own annotation and the request", true, true],
    ["its own annotation, not the request", false, true],
    ["the request, not a user's annotation", true, false],
    ["neither the request nor a user's annotation", false, false],
  ])("removes %s", (_, forget, isOurs) => {
    const annotations = { [scaleDownDisabled]: "true", ...(isOurs ? autoscaler : {}), [P]: forget ? "now" : "false" };
    const start = world(
      aMachineIn("Running", annotated({ [L]: "now" }), until(forget ? past : future)),
      aNodeWith({ annotations, condition: plain() }),
    );
    expect(settle(start).world.node?.metadata.annotations).toEqual({
      ...(isOurs ? {} : { [scaleDownDisabled]: "true" }),
      ...(forget ? {} : { [P]: "false" }),
    });
  });
});
