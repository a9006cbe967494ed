import { finalizers, type MachineClass } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aMachineClass, beingDeleted, type Change } from "../testing/builders.ts";
import { decideMachineClass } from "./decide.ts";

const held = { metadata: { finalizers: ["theirs", finalizers.machine] } };

describe("decideMachineClass", () => {
  it.each<[string, number, Change<MachineClass>, readonly string[]]>([
    ["holds a class as soon as a machine refers to it", 1, {}, ["AddFinalizer"]],
    ["leaves a class alone that is held and needed", 2, held, []],
    [
      "keeps a class that is to be deleted while a machine needs it",
      1,
      { metadata: { ...held.metadata, ...beingDeleted().metadata } },
      [],
    ],
    [
      "lets a class go with its last machine",
      0,
      { metadata: { ...held.metadata, ...beingDeleted().metadata } },
      ["RemoveFinalizer"],
    ],
    ["does not hold a class without machines", 0, held, ["RemoveFinalizer"]],
    ["leaves a class without machines alone", 0, {}, []],
    [
      "does not try to hold a class that is going",
      1,
      { metadata: { finalizers: ["theirs"], ...beingDeleted().metadata } },
      [],
    ],
  ])("%s", (_, machines, change, expected) => {
    const { actions, because } = decideMachineClass({ machineClass: aMachineClass(change), machines });
    expect(actions.map(({ kind }) => kind)).toEqual(expected);
    expect(because).toEqual([]);
  });
});
