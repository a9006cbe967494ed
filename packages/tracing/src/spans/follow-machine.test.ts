import { type Machine, markerOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { followGone, followMachine, type MachineProgress, type MachineSpan } from "./follow-machine.ts";

const createdAt = "2026-01-01T00:00:00Z";
const second = (count: number): number => Date.parse(createdAt) + count * 1_000;

interface Change {
  readonly phase?: string;
  readonly description?: string;
  readonly updatedSecond?: number;
  readonly deletedSecond?: number;
}

const aMachine = ({ phase, description = "", updatedSecond = 0, deletedSecond }: Change = {}): Machine => {
  const lastUpdateTime = new Date(second(updatedSecond)).toISOString();
  const machine: unknown = {
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "Machine",
    metadata: {
      name: "m",
      namespace: "n",
      uid: "u",
      creationTimestamp: createdAt,
      ...(deletedSecond === undefined ? {} : { deletionTimestamp: new Date(second(deletedSecond)).toISOString() }),
    },
    spec: { class: { kind: "MachineClass", name: "small" } },
    status: {
      ...(phase === undefined ? {} : { currentStatus: { phase, lastUpdateTime } }),
      lastOperation: { description, lastUpdateTime },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that are read
  return machine as Machine;
};
const deleting = (stage: Parameters<typeof markerOf>[0] | undefined, updatedSecond = 0): Machine =>
  aMachine({
    phase: "Terminating",
    deletedSecond: 100,
    updatedSecond,
    description: stage === undefined ? "" : `Something happened. ${markerOf(stage)}`,
  });

/** Name, seconds of start and end, and failure of each span. */
const summary = (spans: readonly MachineSpan[]) =>
  spans.map(({ trace, isRoot, name, startMs, endMs, failure }) =>
    [
      isRoot ? name : `${trace}: ${name}`,
      (startMs - second(0)) / 1_000,
      (endMs - second(0)) / 1_000,
      ...(failure === undefined ? [] : [failure]),
    ].join(" "),
  );

/** Follows states, each with the second in which it is seen; `undefined`: gone. */
function follow(states: readonly (readonly [number, Machine | undefined])[]): readonly string[] {
  let progress: MachineProgress | undefined;
  return states.flatMap(([at, machine]) => {
    if (machine === undefined) return progress === undefined ? [] : summary(followGone(progress, second(at)));
    const { progress: next, spans } = followMachine(progress, machine, second(at));
    progress = next;
    return summary(spans);
  });
}

describe("a machine", () => {
  it("has a trace from its creation until it runs, with a span for each phase", () => {
    const states = [
      [1, aMachine()],
      [2, aMachine()],
      [5, aMachine({ phase: "Pending" })],
      [6, aMachine({ phase: "CrashLoopBackOff" })],
      [9, aMachine({ phase: "Pending" })],
      [30, aMachine({ phase: "Running" })],
      [40, aMachine({ phase: "Unknown" })],
      [50, aMachine({ phase: "Running" })],
    ] as const;
    expect(follow(states)).toEqual([
      "create: Requested 0 5",
      "create: Pending 5 6",
      "create: CrashLoopBackOff 6 9",
      "create: Pending 9 30",
      "create machine 0 30",
    ]);
  });

  it("ends in Available where there is no target cluster", () => {
    const states = [
      [1, aMachine()],
      [5, aMachine({ phase: "Available" })],
    ] as const;
    expect(follow(states).at(-1)).toBe("create machine 0 5");
  });

  it("has a trace from the request for its deletion until it is gone, with a span for each stage", () => {
    const states = [
      [99, aMachine({ phase: "Running" })],
      [100, aMachine({ phase: "Running", deletedSecond: 100 })],
      [101, deleting("GetVmStatus")],
      [103, deleting("Drain")],
      // A description without a marker does not end the stage.
      [110, deleting(undefined)],
      [120, deleting("DeleteVm")],
      [130, deleting("RemoveFinalizer")],
      [131, undefined],
    ] as const;
    expect(follow(states)).toEqual([
      "delete: GetVmStatus 101 103",
      "delete: Drain 103 120",
      "delete: DeleteVm 120 130",
      "delete: RemoveFinalizer 130 131",
      "delete machine 100 131",
    ]);
  });

  it("that fails, or is deleted before it runs, ends its trace with an error", () => {
    expect(
      follow([
        [1, aMachine()],
        [9, aMachine({ phase: "Failed" })],
      ]).at(-1),
    ).toBe("create machine 0 9 Failed");
    expect(
      follow([
        [1, aMachine({ phase: "Pending" })],
        [100, deleting(undefined)],
        [110, undefined],
      ]),
    ).toEqual(["create: Pending 0 100", "create machine 0 100 Deleted", "delete machine 100 110"]);
    expect(
      follow([
        [1, aMachine()],
        [3, undefined],
      ]),
    ).toEqual(["create: Requested 0 3", "create machine 0 3 Deleted"]);
  });

  it("that is gone without a request for its deletion, after it ran, ends nothing", () => {
    const states = [
      [1, aMachine({ phase: "Running" })],
      [3, undefined],
    ] as const;
    expect(follow(states)).toEqual([]);
  });

  it("goes on where the process before left it, by the times of the object", () => {
    const created = [
      [20, aMachine({ phase: "Pending", updatedSecond: 4 })],
      [30, aMachine({ phase: "Running" })],
    ] as const;
    expect(follow(created)).toEqual(["create: Pending 4 30", "create machine 0 30"]);
    const deleted = [
      [120, deleting("Drain", 105)],
      [130, deleting("DeleteVm")],
      [131, undefined],
    ] as const;
    expect(follow(deleted)).toEqual(["delete: Drain 105 130", "delete: DeleteVm 130 131", "delete machine 100 131"]);
  });

  it("has no span that ends before it starts, whatever the clocks are", () => {
    const states = [
      [-5, aMachine()],
      [-3, aMachine({ phase: "Running" })],
    ] as const;
    expect(follow(states)).toEqual(["create: Requested 0 0", "create machine 0 0"]);
  });
});
