import { annotationKeys, labelKeys, type MachinePhase } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { type LivingMachine } from "../../testing/living-machine.ts";
import { aSnapshot, testNow } from "../../testing/snapshots.ts";
import { decideInPlace } from "./decide-in-place.ts";
import {
  aMachineIn,
  aNodeWith,
  candidate,
  failed,
  once,
  reasonOf,
  selected,
  successful,
  world,
} from "../../testing/updated-machines.ts";

const messageOf = ({ node }: LivingMachine): string | undefined =>
  node?.status?.conditions?.find(({ type }) => type === "InPlaceUpdate")?.message;

describe("labels of the node become its condition (MCM, `pkg/util/provider/machinecontroller/machine_util_test.go`)", () => {
  it.each<[string, Readonly<Record<string, string>>, string | undefined, MachinePhase, string | undefined]>([
    ["a candidate without condition becomes one", candidate, undefined, "Running", "CandidateForUpdate"],
    ["a candidate stays one", candidate, "CandidateForUpdate", "Running", "CandidateForUpdate"],
    [
      "a node of an earlier update is a candidate again",
      candidate,
      "UpdateSuccessful",
      "Running",
      "CandidateForUpdate",
    ],
    ["an update whose labels remain is over", successful, "UpdateSuccessful", "Running", "UpdateSuccessful"],
    ["a selected candidate is selected", selected, "CandidateForUpdate", "Running", "SelectedForUpdate"],
    ["a selected node passes through CandidateForUpdate first", selected, undefined, "Running", "CandidateForUpdate"],
    [
      "a node that is selected but no candidate stays",
      { [labelKeys.selectedForUpdate]: "true" },
      "CandidateForUpdate",
      "Running",
      "CandidateForUpdate",
    ],
    ["a node without labels stays without condition", {}, undefined, "Running", undefined],
    ["a drained node is handed to the agent", selected, "DrainSuccessful", "InPlaceUpdating", "ReadyForUpdate"],
    ["a node that was drained is marked so", selected, "SelectedForUpdate", "InPlaceUpdating", "DrainSuccessful"],
    [
      "a node that was drained too late is marked so",
      selected,
      "SelectedForUpdate",
      "InPlaceUpdateFailed",
      "DrainSuccessful",
    ],
    ["success is success", successful, "ReadyForUpdate", "InPlaceUpdating", "UpdateSuccessful"],
    ["failure is failure", failed, "DrainSuccessful", "InPlaceUpdating", "UpdateFailed"],
    ["a node that is ready waits for the agent", selected, "ReadyForUpdate", "InPlaceUpdating", "ReadyForUpdate"],
    [
      "an unknown result is ignored",
      { ...selected, [labelKeys.updateResult]: "great" },
      "ReadyForUpdate",
      "InPlaceUpdating",
      "ReadyForUpdate",
    ],
    ["success after failure counts", successful, "UpdateFailed", "InPlaceUpdateFailed", "UpdateSuccessful"],
    ["failure after failure changes nothing", failed, "UpdateFailed", "InPlaceUpdateFailed", "UpdateFailed"],
    [
      "failure after success changes nothing",
      failed,
      "UpdateSuccessful",
      "InPlaceUpdateSuccessful",
      "UpdateSuccessful",
    ],
    [
      "a result before the drain changes nothing",
      { ...candidate, [labelKeys.updateResult]: "successful" },
      "CandidateForUpdate",
      "Running",
      "CandidateForUpdate",
    ],
    ["an earlier machine controller wrote the phase only", successful, "ReadyForUpdate", "Running", "UpdateSuccessful"],
    [
      "a late result of a machine that is given up changes nothing",
      successful,
      "ReadyForUpdate",
      "Failed",
      "ReadyForUpdate",
    ],
    ["a reason of another version is left alone", successful, "Hibernating", "Running", "Hibernating"],
  ])("%s", (_, labels, before, phase, after) => {
    const { world: then } = once(world(aMachineIn(phase), aNodeWith(labels, before)));
    expect(reasonOf(then)).toBe(after);
    expect(JSON.stringify(then.node?.metadata.labels)).toBe(JSON.stringify(labels));
  });

  it("sets nothing without a node", () => {
    expect(decideInPlace(aSnapshot({ machine: aMachineIn("Running") }), testNow)).toEqual({ actions: [], because: [] });
  });

  it("sets nothing on a node without labels", () => {
    const node = { metadata: { name: "node" } };
    expect(decideInPlace(aSnapshot({ machine: aMachineIn("Running"), node }), testNow)).toEqual({
      actions: [],
      because: [],
    });
  });

  it("writes the condition alone, with its message, and the time of its transition", () => {
    const { decision } = once(world(aMachineIn("Running"), aNodeWith(candidate, undefined)));
    expect(decision).toEqual({
      actions: [
        {
          kind: "PatchNodeStatus",
          name: "node",
          patch: {
            conditions: [
              {
                type: "InPlaceUpdate",
                status: "True",
                reason: "CandidateForUpdate",
                message: "Node is a candidate for in-place update",
                lastHeartbeatTime: "2026-01-01T00:10:00Z",
                lastTransitionTime: "2026-01-01T00:10:00Z",
              },
            ],
          },
        },
      ],
      because: [],
    });
  });

  it("repeats the reason that the agent gives for a failure, up to a length", () => {
    const start = (reason: string) =>
      world(
        aMachineIn("InPlaceUpdating"),
        aNodeWith(failed, "ReadyForUpdate", {
          metadata: { labels: failed, annotations: { [annotationKeys.updateFailedReason]: reason } },
        }),
      );
    expect(messageOf(once(start("disk is full")).world)).toBe("Node in-place update failed: disk is full");
    expect(messageOf(once(start("x".repeat(100_000))).world)?.length).toBeLessThan(1_100);
  });
});
