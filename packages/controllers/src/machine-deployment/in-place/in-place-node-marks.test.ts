import { annotationKeys, inPlaceUpdateReasons as reasons, labelKeys, taintKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, aNode, beingDeleted, inPhase, labeled } from "../../testing/builders.ts";
import { nodePatch } from "../state/node-patch.ts";
import { desiredMarksForOldSet, desiredMarksForReleased } from "./in-place-node-marks.ts";
import { type UpdateNote, writeUpdateNote, type UpdateState, updateStateOf } from "./update-state.ts";

const { candidateForUpdate, selectedForUpdate, updateResult } = labelKeys;
const noteKey = annotationKeys.inPlaceUpdate;

/** A node with labels, the reason of its condition, a note and a cordon. */
function node(
  labels: Readonly<Record<string, string>>,
  reason?: string,
  note?: Partial<UpdateNote> | string,
  isCordoned = false,
): Node {
  const text =
    typeof note === "string" || note === undefined
      ? note
      : writeUpdateNote({ set: "new", schedulable: true, revoked: false, ...note });
  return aNode({
    metadata: { resourceVersion: "7", labels, annotations: text === undefined ? {} : { [noteKey]: text } },
    spec: isCordoned ? { unschedulable: true } : {},
    status: { conditions: reason === undefined ? [] : [{ type: "InPlaceUpdate", status: "True", reason }] },
  });
}
const candidate = { [candidateForUpdate]: "true" };
const selected = { ...candidate, [selectedForUpdate]: "true" };
const done = { ...selected, [updateResult]: "successful" };

describe("updateStateOf", () => {
  const running = aMachine(inPhase("Running"));
  it.each<[UpdateState, Parameters<typeof updateStateOf>]>([
    ["gone", [aMachine(beingDeleted()), node({}), "new"]],
    ["gone", [aMachine(inPhase("Failed")), node(done, reasons.updateSuccessful), "new"]],
    ["without node", [running, undefined, "new"]],
    [
      "without node",
      [running, { metadata: { ...node({}).metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, "new"],
    ],
    ["waiting", [running, node({}), "new"]],
    ["waiting", [running, node(candidate, reasons.candidateForUpdate), "new"]],
    ["waiting", [running, node(candidate, reasons.updateSuccessful), "new"]],
    ["selected", [running, node(selected, reasons.candidateForUpdate), "new"]],
    ["selected", [running, node(selected, reasons.selectedForUpdate), "new"]],
    ["revoked", [running, node(candidate, reasons.selectedForUpdate), "new"]],
    ["updating", [aMachine(inPhase("InPlaceUpdating")), node(selected, reasons.selectedForUpdate), "new"]],
    ["updating", [running, node(selected, reasons.readyForUpdate), "new"]],
    ["updating", [aMachine(inPhase("InPlaceUpdating")), node(done, reasons.updateSuccessful), "new"]],
    ["failed", [aMachine(inPhase("InPlaceUpdateFailed")), node(selected, reasons.readyForUpdate), "new"]],
    ["failed", [running, node(selected, reasons.updateFailed), "new"]],
    ["updated", [running, node(done, reasons.updateSuccessful, { set: "new" }), "new"]],
    ["updated", [aMachine(inPhase("InPlaceUpdateSuccessful")), node(done, reasons.updateSuccessful), "new"]],
    // An invalid note is ignored.
    ["updated", [running, node(done, reasons.updateSuccessful, "no JSON"), "new"]],
    ["updated", [running, node(done, reasons.updateSuccessful, "[]"), "new"]],
    ["outdated", [running, node(done, reasons.updateSuccessful, { set: "other" }), "new"]],
    ["settling", [aMachine(inPhase("Running"), labeled({ [updateResult]: "successful" })), node(done), "new"]],
  ])("is %s", (expected, given) => {
    expect(updateStateOf(...given)).toBe(expected);
  });
});

/** The patch of the marks, and the reason of the condition, if any. */
const old = (of: Node, state: UpdateState, isChosen = false) => {
  const { marks, condition } = desiredMarksForOldSet(of, state, isChosen, "new");
  return [nodePatch(of, marks), condition?.reason];
};
const released = (of: Node, state: UpdateState) => {
  const { marks, condition } = desiredMarksForReleased(of, state);
  return [nodePatch(of, marks), condition?.reason];
};
const noted = (note: Partial<UpdateNote>) =>
  writeUpdateNote({ set: "new", schedulable: true, revoked: false, ...note });
const critical = { key: taintKeys.criticalComponentsNotReady, effect: "NoSchedule" };
const clean = { [candidateForUpdate]: null, [selectedForUpdate]: null, [updateResult]: null };

describe("the node marks of an in-place update", () => {
  it.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      "make a node a candidate, and note that it takes pods",
      old(node({}), "waiting"),
      [{ metadata: { labels: candidate, annotations: { [noteKey]: noted({}) } } }, undefined],
    ],
    [
      "note a cordon of a user's",
      old(node(candidate, reasons.candidateForUpdate, {}, true), "waiting"),
      [{ metadata: { annotations: { [noteKey]: noted({ schedulable: false }) } } }, undefined],
    ],
    [
      "select a node in the same patch",
      old(node({}), "waiting", true),
      [{ metadata: { labels: selected, annotations: { [noteKey]: noted({}) } } }, undefined],
    ],
    [
      "leave a drain alone",
      old(node(selected, reasons.selectedForUpdate, {}, true), "selected"),
      [undefined, undefined],
    ],
    ["leave an agent alone", old(node(selected, reasons.readyForUpdate, {}, true), "updating"), [undefined, undefined]],
    [
      "leave a failure to its timeout",
      old(node(selected, reasons.updateFailed, {}, true), "failed"),
      [undefined, undefined],
    ],
    ["leave what is gone", old(node({}), "gone"), [undefined, undefined]],
    ["want nothing without a node", old(node({}), "without node"), [undefined, undefined]],
    [
      "end a drain of a node that a person takes back: the condition first",
      old(node(candidate, reasons.selectedForUpdate, {}, true), "revoked"),
      [{ metadata: { annotations: { [noteKey]: noted({ revoked: true }) } } }, reasons.candidateForUpdate],
    ],
    [
      "end a drain of a node that a person takes back: then the cordon",
      old(node(candidate, reasons.candidateForUpdate, { revoked: true }, true), "waiting"),
      [{ metadata: { annotations: { [noteKey]: noted({}) } }, spec: { unschedulable: null } }, undefined],
    ],
    [
      "keep a user's cordon of a node that is taken back",
      old(node(candidate, reasons.candidateForUpdate, { revoked: true, schedulable: false }, true), "waiting"),
      [{ metadata: { annotations: { [noteKey]: noted({ schedulable: false }) } } }, undefined],
    ],
    [
      "start over with a node that was updated for another template",
      old(node(done, reasons.updateSuccessful, { set: "other" }, true), "outdated"),
      [
        {
          metadata: {
            labels: { [selectedForUpdate]: null, [updateResult]: null },
            annotations: { [noteKey]: null },
            resourceVersion: "7",
          },
          spec: { taints: [critical], unschedulable: null },
        },
        undefined,
      ],
    ],
    [
      "clean an updated node in one patch, and let pods wait for its components",
      released(node(done, reasons.updateSuccessful, {}, true), "settling"),
      [
        {
          metadata: { labels: clean, annotations: { [noteKey]: null }, resourceVersion: "7" },
          spec: { taints: [critical], unschedulable: null },
        },
        undefined,
      ],
    ],
    [
      "take every cordon for the update's where MCM selected the node",
      released(node(selected, reasons.updateFailed, undefined, true), "failed"),
      [
        {
          metadata: { labels: { [candidateForUpdate]: null, [selectedForUpdate]: null } },
          spec: { unschedulable: null },
        },
        undefined,
      ],
    ],
    [
      "leave the cordon of a node without marks",
      released(node({}, reasons.updateFailed, undefined, true), "failed"),
      [undefined, undefined],
    ],
    [
      "keep a user's cordon at the end",
      released(node(done, reasons.updateSuccessful, { schedulable: false }, true), "updated"),
      [
        {
          metadata: { labels: clean, annotations: { [noteKey]: null }, resourceVersion: "7" },
          spec: { taints: [critical] },
        },
        undefined,
      ],
    ],
    [
      "release a candidate without touching a cordon",
      released(node(candidate, reasons.candidateForUpdate, {}, true), "waiting"),
      [{ metadata: { labels: { [candidateForUpdate]: null }, annotations: { [noteKey]: null } } }, undefined],
    ],
    [
      "release a node that is being drained: selection and condition first",
      released(node(selected, reasons.selectedForUpdate, {}, true), "selected"),
      [
        {
          metadata: {
            labels: { [candidateForUpdate]: null, [selectedForUpdate]: null },
            annotations: { [noteKey]: noted({ revoked: true }) },
          },
        },
        reasons.candidateForUpdate,
      ],
    ],
    [
      "release a node that MCM selected",
      released(node(selected, reasons.candidateForUpdate), "selected"),
      [
        {
          metadata: {
            labels: { [candidateForUpdate]: null, [selectedForUpdate]: null },
            annotations: { [noteKey]: noted({ set: "", revoked: true }) },
          },
        },
        undefined,
      ],
    ],
    [
      "release a node that was being drained: then the cordon",
      released(node({}, reasons.candidateForUpdate, { revoked: true }, true), "waiting"),
      [{ metadata: { annotations: { [noteKey]: null } }, spec: { unschedulable: null } }, undefined],
    ],
    [
      "let an agent end what it has begun",
      released(node(selected, reasons.readyForUpdate, {}, true), "updating"),
      [undefined, undefined],
    ],
    ["leave what is gone, released or not", released(node(selected), "gone"), [undefined, undefined]],
    ["want nothing of a new machine without a node", released(node({}), "without node"), [undefined, undefined]],
  ])("%s", (_, marks, expected) => {
    expect(marks).toEqual(expected);
  });

  it("remove the failure that the agent reported", () => {
    const failed = node({ ...selected, [updateResult]: "failed" }, reasons.updateFailed, {}, true);
    const annotations = { ...failed.metadata.annotations, [annotationKeys.updateFailedReason]: "disk is full" };
    const [patch] = released({ ...failed, metadata: { ...failed.metadata, annotations } }, "failed");
    expect(patch).toMatchObject({ metadata: { annotations: { [annotationKeys.updateFailedReason]: null } } });
  });

  it("add the taint of the components once", () => {
    const tainted = node(done, reasons.updateSuccessful, {}, true);
    const [patch] = released({ ...tainted, spec: { ...tainted.spec, taints: [critical] } }, "settling");
    expect(patch).toMatchObject({ spec: { unschedulable: null } });
    expect(patch).not.toHaveProperty("spec.taints");
  });
});
