import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
} from "../../testing/builders.ts";
import { planScalerMarks } from "./plan-scaler-marks.ts";

const now = new Date("2026-01-02T00:00:00Z");
const time = "2026-01-01T12:00:00Z";
const { triggerDeletion, lastReplicaChangeByScaler, machinePriority, markedForDeletionTime } = annotationKeys;
const machines: readonly Machine[] = [
  aMachine(named("m1"), inPhase("Running")),
  aMachine(named("m2"), inPhase("Running")),
  aMachine(named("failed"), inPhase("Failed")),
  aMachine(named("going"), beingDeleted()),
];
const plan = (trigger: string, annotations: Readonly<Record<string, string>> = {}, own = machines) =>
  planScalerMarks(aMachineDeployment(annotated({ [triggerDeletion]: trigger, ...annotations })), own, now);
/** Of an autoscaler that changed the size at that time. */
const scaled = { [lastReplicaChangeByScaler]: time };
const marked = (at: string) => ({ [machinePriority]: "1", [markedForDeletionTime]: at });

describe("planScalerMarks", () => {
  it("marks the machines that the autoscaler lists, and keeps the list", () => {
    expect(plan(`m1~${time},m2~2026-01-01T13:00:00+01:00`, scaled)).toEqual({
      annotations: {},
      machines: [
        { name: "m1", annotations: marked(time) },
        { name: "m2", annotations: marked("2026-01-01T13:00:00+01:00") },
      ],
    });
  });

  it.each<[string, string]>([
    ["with more than one time", `m1~${time}~${time}`],
    ["with a time that is none", "m1~yesterday"],
    ["with a time that cannot be", "m1~2026-13-01T00:00:00Z"],
    ["of a machine that is not the deployment's", `m9~${time}`],
    ["of a Failed machine", `failed~${time}`],
    ["of a terminating machine", `going~${time}`],
    ["without anything", ""],
    ["without a name", `~${time}`],
  ])("drops an entry %s, and the list with the last", (_, entry) => {
    expect(plan(entry)).toEqual({ annotations: { [triggerDeletion]: null }, machines: [] });
    expect(plan(`${entry},m2~${time}`, scaled)).toEqual({
      annotations: { [triggerDeletion]: `m2~${time}` },
      machines: [{ name: "m2", annotations: marked(time) }],
    });
  });

  it("gives bare names of old autoscalers the time of the replica change", () => {
    const { annotations, machines: marks } = plan("m1,m2", scaled);
    expect(annotations).toEqual({ [triggerDeletion]: `m1~${time},m2~${time}` });
    expect(marks.map((each) => each.annotations)).toEqual([marked(time), marked(time)]);
  });

  it("takes the current time for a replica change without a time, and records it", () => {
    const present = "2026-01-02T00:00:00Z";
    expect(plan("m1")).toEqual({
      annotations: { [triggerDeletion]: `m1~${present}`, [lastReplicaChangeByScaler]: present },
      machines: [{ name: "m1", annotations: marked(present) }],
    });
  });

  it.each([
    ["now, where marks are older", time, "2026-01-02T00:00:00Z"],
    ["the mark's, where the clock of the autoscaler is ahead", "2026-01-02T00:00:03Z", "2026-01-02T00:00:03Z"],
  ])("records a time of the replica change where the autoscaler gave marks only: %s", (_, mark, change) => {
    expect(plan(`m2~${time},m1~${mark}`)).toEqual({
      annotations: { [lastReplicaChangeByScaler]: change },
      machines: [
        { name: "m2", annotations: marked(time) },
        { name: "m1", annotations: marked(mark) },
      ],
    });
    expect(plan(`m9~${mark}`).annotations).toEqual({ [triggerDeletion]: null });
  });

  it("takes back the marks of machines that the list no longer names", () => {
    const own = (change: Change<Machine>) => [
      aMachine(named("m1"), annotated(marked(time)), change),
      ...machines.slice(1),
    ];
    const taken = { name: "m1", annotations: { [machinePriority]: "3", [markedForDeletionTime]: null } };
    const without = (list: readonly Machine[]) => planScalerMarks(aMachineDeployment(annotated(scaled)), list, now);
    expect(without(own({}))).toEqual({ annotations: {}, machines: [taken] });
    expect(plan(`m2~${time}`, scaled, own({})).machines).toEqual([{ name: "m2", annotations: marked(time) }, taken]);
    // Another client has reset the priority: it stays as it is.
    const reset = without(own(annotated({ [machinePriority]: "5" })));
    expect(reset.machines).toEqual([{ name: "m1", annotations: { [markedForDeletionTime]: null } }]);
    for (const change of [inPhase("Failed"), beingDeleted(), annotated({ [markedForDeletionTime]: "" })])
      expect(without(own(change)).machines).toEqual([]);
  });

  it("writes nothing again, and lets the first mark stand", () => {
    const done = [aMachine(named("m1"), annotated(marked("2026-01-01T00:00:00Z")))];
    expect(plan(`m1~${time}`, scaled, done)).toEqual({ annotations: {}, machines: [] });
    const empty = [aMachine(named("m1"), annotated({ ...marked(""), [machinePriority]: "5" }))];
    expect(plan(`m1~${time}`, scaled, empty).machines).toEqual([{ name: "m1", annotations: marked(time) }]);
  });

  it("has nothing to do without a list", () => {
    expect(planScalerMarks(aMachineDeployment(), machines, now)).toEqual({ annotations: {}, machines: [] });
  });
});
