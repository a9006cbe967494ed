import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, beingDeleted, type Change, inPhase, labeled, named } from "../../testing/builders.ts";
import { recoveredSize } from "./set-size.ts";

const own = inPhase("Running");
const received = { ...own, ...labeled({ [labelKeys.updateResult]: "successful" }) };
const going = { ...own, ...beingDeleted() };

/** The size of a set with `spec.replicas` of `replicas` and these machines. */
const sizeOf = (replicas: number, isDrawnOn: boolean, ...machines: readonly Change<Machine>[]): number =>
  recoveredSize({
    set: aMachineSet(isDrawnOn ? labeled({ [labelKeys.scaleUpDisabled]: "true" }) : {}, { spec: { replicas } }),
    machines: machines.map((change, index) => aMachine(named(`m${index}`), change)),
  }).spec;
const oldSet = (replicas: number, ...machines: readonly Change<Machine>[]) => sizeOf(replicas, true, ...machines);
const newSet = (replicas: number, ...machines: readonly Change<Machine>[]) => sizeOf(replicas, false, ...machines);

// Cases of MCM, `pkg/controller/deployment_inplace_test.go` syncMachineSets.
describe("the sizes of sets between which a hand-over was interrupted", () => {
  it.each<[string, readonly [number, number], readonly [number, number]]>([
    ["are left when nothing was", [oldSet(2, own, own), newSet(3, own, own, own)], [2, 3]],
    ["grow by what was received and not counted yet", [oldSet(2, own, own), newSet(2, own, own, received)], [2, 3]],
    ["shrink by what was given and not counted yet", [oldSet(2, own), newSet(3, own, own, own)], [1, 3]],
    ["do both", [oldSet(2, own), newSet(0, received)], [1, 1]],
    ["count a terminating machine as given", [oldSet(2, own, going), newSet(0)], [1, 0]],
    ["do not grow by what was counted already", [oldSet(1, own), newSet(2, received, own)], [1, 2]],
    ["do not grow by machines that are too many of their own", [oldSet(0), newSet(1, own, own)], [0, 1]],
    ["keep a place for machines that are to be made", [oldSet(0), newSet(3, received)], [0, 3]],
  ])("%s", (_, sizes, expected) => {
    expect(sizes).toEqual(expected);
  });
});
