import { type Machine, phaseOf, taintKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node, Pod } from "../../model/node-objects.ts";
import type { Change } from "../../testing/builders.ts";
import { isAtRest } from "../../testing/living-machine.ts";
import { kindsOf, later } from "../../testing/snapshots.ts";
import { isPreservationDrainDue } from "../../model/preserve-value.ts";
import {
  aMachineIn,
  aNodeWith,
  aPod,
  autoscaler,
  drained,
  future,
  kept,
  keptFailed,
  M,
  marksOf,
  type NodeMarks,
  notDrained,
  once,
  plain,
  settle,
  taint,
  until,
  world,
} from "../../testing/preserved-machines.ts";

const lostConditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:08:00Z" }];

describe("the drain of a Failed machine", () => {
  const failed = (...changes: readonly Change<Machine>[]): Machine =>
    aMachineIn("Failed", M("now"), until(future), ...changes);
  const tainted = (marks: NodeMarks = {}): Node =>
    aNodeWith({ annotations: autoscaler, taints: [taint], condition: plain(), ...marks });

  it("taints the node and evicts its pods without a cordon, and is complete when they are deleted", () => {
    const first = once(world(failed(), aNodeWith(), aPod("a")));
    expect(kindsOf(first.decision)).toEqual(["PatchNode", "EvictPod", "PatchNodeStatus"]);
    const { world: waiting } = settle(first.world);
    expect(marksOf(waiting)).toMatchObject({
      condition: `True Preserved by user. Machine preserved until ${future}.`,
      taint: true,
    });
    const { decision, world: end } = once({ ...waiting, pods: [] });
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    expect(decision.because).toEqual([
      { type: "Normal", reason: "PreservedNodeDrained", message: "Node node of the preserved machine is drained" },
    ]);
    expect(end.node?.spec?.unschedulable).toBeUndefined();
    expect(phaseOf(end.machine)).toBe("Failed");
  });

  it("believes a node to be empty only behind its taint", () => {
    const { world: marked } = once(world(failed()));
    expect(marksOf(marked)["condition"]).not.toContain("drained");
  });

  it("leaves mirror pods and pods of DaemonSets where they are", () => {
    const mirror = aPod("mirror", { annotations: { "kubernetes.io/config.mirror": "x" } });
    const { world: end } = settle(world(failed(), tainted(), mirror));
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    expect(end.pods).toHaveLength(1);
  });

  it.each<[string, Machine, Node, boolean]>([
    [
      "a node that has not been ready for five minutes",
      failed(),
      tainted({ ready: [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:04:00Z" }] }),
      // Its VM may be running, with all containers.
      false,
    ],
    ["a node that has not been ready for two minutes", failed(), tainted({ ready: lostConditions }), false],
    [
      "a machine with the label force-drain",
      failed({ metadata: { labels: { "force-drain": "True" } } }),
      aNodeWith(),
      true,
    ],
    [
      "a machine whose drain timeout has passed since the taint",
      failed({ spec: { drainTimeout: "1m" } }),
      tainted(),
      true,
    ],
    [
      "a machine whose drain timeout has not passed since the taint",
      failed({ spec: { drainTimeout: "150s" } }),
      tainted(),
      false,
    ],
    [
      "a machine tainted by MCM, whose drain timeout has passed since its phase",
      failed({ spec: { drainTimeout: "150s" } }),
      tainted({ taints: [{ key: taintKeys.preserved, effect: "NoSchedule" }] as never }),
      true,
    ],
    [
      "a machine whose taint has no time that can be read",
      failed({ spec: { drainTimeout: "1s" } }),
      tainted({ taints: [{ ...taint, timeAdded: "once" }] }),
      false,
    ],
    // Neither the phase nor the expiry starts the drain, the taint does.
    [
      "a machine that has been Failed for long and is tainted now",
      failed({ spec: { drainTimeout: "1m" } }),
      aNodeWith(),
      false,
    ],
    [
      "a machine whose phase has no time",
      aMachineIn("Failed", M("now"), until(future), {
        spec: { drainTimeout: "1s" },
        status: { currentStatus: { lastUpdateTime: null } },
      }),
      tainted({ taints: [{ key: taintKeys.preserved, effect: "NoSchedule" }] as never }),
      false,
    ],
  ])("of %s is forced: see the table", (_, machine, node, isForced) => {
    const { decision, world: after } = once(world(machine, node, aPod("a")));
    expect(decision.actions.some(({ kind }) => kind === "DeletePod")).toBe(isForced);
    expect(marksOf(after)["condition"] === keptFailed(future).condition).toBe(isForced);
  });

  const late = "deletionTimestamp set, but still not removed from the Node although its grace period is over";

  it("reports that it is blocked while pods do not terminate, once, and continues", () => {
    const stuck = ["a", "b", "c", "d"].map((name) => aPod(name, { deletionTimestamp: "2026-01-01T00:09:00Z" }));
    const start = world(failed(), tainted(), ...stuck, aPod("fresh", { deletionTimestamp: "2026-01-01T00:09:50Z" }));
    const { decision, world: failing } = once(start);
    expect(marksOf(failing)).toMatchObject({ condition: `False ${notDrained().reason} ${notDrained().message}` });
    expect(decision.because).toEqual([
      {
        type: "Warning",
        reason: "PreservedNodeNotDrained",
        message: `* Pods default/a, default/b, default/c and 1 more: ${late}`,
      },
    ]);
    // The fresh one is late twenty seconds from now.
    expect(decision.requeueAfterMs).toBe(20_001);
    const again = once(failing);
    expect(isAtRest(failing, again.decision)).toBe(true);
    expect(again.decision.because).toEqual([]);
    const { world: end } = settle({ ...failing, pods: [] });
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    // Nothing is short of the drain's deadline.
    const { world: forced } = settle(failing, later(2 * 3_600_000));
    expect(forced.pods).toEqual([]);
  });

  it("keeps the pods of an unreachable node, whose VM is preserved with them, reports it once, and ends when the node recovers", () => {
    const ready = [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:04:00Z" }];
    const going = { deletionTimestamp: "2026-01-01T00:09:50Z" };
    const start = world(failed(), tainted({ ready }), aPod("db-0", going));
    const { decision, world: waiting } = settle(start);
    expect(waiting.pods).toHaveLength(1);
    expect(marksOf(waiting)).toMatchObject({ condition: `False ${notDrained().reason} ${notDrained().message}` });
    const again = once(waiting, later(3 * 3_600_000));
    expect([...decision.because, ...again.decision.because]).toEqual([]);
    expect(once(start).decision.because).toEqual([
      {
        type: "Warning",
        reason: "PreservedNodeNotDrained",
        message:
          "* Pod default/db-0: the Node is unreachable, nothing on it is deleted by force while its VM may be running",
      },
    ]);
    const { world: end } = settle({ ...waiting, pods: [] });
    expect(marksOf(end)).toMatchObject(keptFailed(future));
  });

  it("names one pod alone", () => {
    const stuck: Pod = { metadata: { name: "a", deletionTimestamp: "2026-01-01T00:09:00Z" } };
    expect(once(world(failed(), tainted(), stuck)).decision.because[0]?.message).toBe(`* Pod /a: ${late}`);
  });

  it("is not repeated for new pods, but for the next failure", () => {
    const { world: end } = settle(world(failed(), tainted()));
    expect(kindsOf(once({ ...end, pods: [aPod("late")] }).decision)).toEqual([]);
    const recovered = settle({
      ...end,
      machine: {
        ...end.machine,
        status: { ...end.machine.status, currentStatus: { phase: "Running", preserveExpiryTime: future } },
      },
    });
    expect(marksOf(recovered.world)).toMatchObject(kept(future));
    const failedAgain = once({
      ...recovered.world,
      machine: {
        ...recovered.world.machine,
        status: { currentStatus: { phase: "Failed", preserveExpiryTime: future } },
      },
      pods: [aPod("back")],
    });
    expect(kindsOf(failedAgain.decision)).toEqual(["PatchNode", "EvictPod"]);
  });

  it.each<[string, Machine, Node | undefined, boolean]>([
    ["Failed, wanted, not drained", aMachineIn("Failed", M("now")), aNodeWith(), true],
    ["Failed, wanted, drained", aMachineIn("Failed", M("now")), aNodeWith({ condition: drained() }), false],
    [
      "Failed, wanted, marked as drained before it stopped",
      aMachineIn("Failed", M("now")),
      aNodeWith({ condition: { ...drained(), status: "False" } }),
      true,
    ],
    ["Failed, not wanted", aMachineIn("Failed"), aNodeWith(), false],
    ["Running, wanted", aMachineIn("Running", M("now")), aNodeWith(), false],
  ])("looks at the pods of a machine that is %s", (_, machine, node, isDue) => {
    expect(isPreservationDrainDue(machine, node)).toBe(isDue);
  });
});
