import { describe, expect, it } from "vitest";
import { type InPlaceBounds, type InPlaceSet, planInPlaceUpdate, type UpdatableMachine } from "./plan-in-place.ts";
import type { UpdateState } from "./update-state.ts";

const bounds = (replicas: number, maxSurge: number, maxUnavailable: number, selects = true): InPlaceBounds => ({
  replicas,
  maxSurge,
  maxUnavailable,
  selects,
});

const inService: ReadonlySet<UpdateState> = new Set(["waiting", "selected", "updated", "without node", "outdated"]);

/** A set of machines in these states, available if the state allows it; `-` before a state: unavailable. */
function set(name: string, states: readonly (UpdateState | `-${UpdateState}`)[], spec = states.length): InPlaceSet {
  const machines = states.map((text, index): UpdatableMachine => {
    const isIdle = text.startsWith("-");
    // A state with or without the sign in front.
    const state = (isIdle ? text.slice(1) : text) as UpdateState;
    const isAvailable = !isIdle && inService.has(state);
    return { name: `${name}-${index}`, state, isAvailable, ...(state === "outdated" ? { updatedFor: "old" } : {}) };
  });
  const available = Math.min(spec, machines.filter(({ isAvailable }) => isAvailable).length);
  return { name, spec, existing: machines.length, available, machines };
}
const fresh = (count: number, spec = count): InPlaceSet => ({ ...set("new", Array(count).fill("waiting"), spec) });

const planOf = (...given: Parameters<typeof planInPlaceUpdate>) => {
  const { sizes, transfer, select } = planInPlaceUpdate(...given);
  return { ...Object.fromEntries(sizes), transfer: transfer.map(({ name, to }) => `${name} to ${to}`), select };
};

const noMachines = { transfer: [], select: [] };

describe("planInPlaceUpdate", () => {
  // Cases of MCM, `pkg/controller/deployment_inplace_test.go`, and where the outcome differs.
  it.each<[string, Parameters<typeof planInPlaceUpdate>, object]>([
    [
      "selects as many as may be missing",
      [bounds(3, 0, 1), fresh(0), [set("old", ["waiting", "waiting", "waiting"])]],
      { new: 0, old: 3, transfer: [], select: ["old-0"] },
    ],
    [
      "selects none while one is under way",
      [bounds(3, 0, 1), fresh(0), [set("old", ["selected", "waiting", "waiting"])]],
      { new: 0, old: 3, ...noMachines },
    ],
    [
      "counts one under way once",
      [bounds(5, 0, 2), fresh(0), [set("old", ["updating", "waiting", "waiting", "waiting", "waiting"])]],
      { new: 0, old: 5, transfer: [], select: ["old-1"] },
    ],
    [
      "goes on past one that failed as far as the others may be missing",
      [bounds(3, 0, 2), fresh(0), [set("old", ["failed", "waiting", "waiting"])]],
      { new: 0, old: 3, transfer: [], select: ["old-1"] },
    ],
    [
      "selects what does not serve at no cost",
      [bounds(3, 0, 1), fresh(0), [set("old", ["-waiting", "waiting", "waiting"])]],
      { new: 0, old: 3, transfer: [], select: ["old-0"] },
    ],
    [
      "selects from the oldest set first",
      [bounds(2, 0, 1), fresh(0), [set("older", ["waiting"]), set("old", ["waiting"])]],
      { new: 0, older: 1, old: 1, transfer: [], select: ["older-0"] },
    ],
    [
      "selects nothing that is promised while new machines do not serve",
      [bounds(3, 1, 0), set("new", ["-waiting"]), [set("old", ["waiting", "waiting", "waiting"])]],
      { new: 1, old: 3, ...noMachines },
    ],
    [
      "selects no more than the new set has places for",
      [bounds(3, 2, 3), fresh(2), [set("old", ["waiting", "waiting", "waiting"])]],
      { new: 2, old: 3, transfer: [], select: ["old-0"] },
    ],
    [
      "counts no more machines of a set than its spec.replicas",
      [bounds(3, 0, 1), fresh(1), [set("old", ["waiting", "waiting", "waiting"], 1)]],
      { new: 1, old: 1, ...noMachines },
    ],
    [
      "leaves the choice to people",
      [bounds(3, 0, 1, false), fresh(0), [set("old", ["waiting", "waiting", "waiting"])]],
      { new: 0, old: 3, ...noMachines },
    ],
    [
      "hands over what is updated, and selects the next",
      [bounds(3, 0, 2), fresh(0), [set("old", ["updated", "waiting", "waiting"])]],
      { new: 1, old: 2, transfer: ["old-0 to new"], select: ["old-1"] },
    ],
    [
      "hands over no more than the new set has places for",
      [bounds(2, 1, 1), fresh(1), [set("old", ["updated", "updated"])]],
      { new: 2, old: 0, transfer: ["old-0 to new"], select: [] },
    ],
    [
      "makes new machines for those that are gone",
      [bounds(3, 0, 1), fresh(0), [set("old", ["-waiting", "waiting"])]],
      { new: 1, old: 2, transfer: [], select: ["old-0"] },
    ],
    [
      "surges first",
      [bounds(2, 1, 0), fresh(0), [set("old", ["waiting", "waiting"])]],
      { new: 1, old: 2, ...noMachines },
    ],
    [
      "fills up when there are no old ones",
      [bounds(3, 0, 1), fresh(0), [set("old", [])]],
      { new: 3, old: 0, ...noMachines },
    ],
    [
      "waits for terminating machines, which use quota",
      [bounds(3, 0, 1), fresh(1), [set("old", ["waiting", "gone"], 1)]],
      { new: 1, old: 1, ...noMachines },
    ],
    [
      "deletes surplus machines when the new set is full",
      [bounds(3, 1, 0), fresh(3), [set("old", ["waiting"])]],
      { new: 3, old: 0, ...noMachines },
    ],
    [
      "gives nothing up that is promised while the new machines do not serve",
      [bounds(2, 1, 0), set("new", ["waiting", "-waiting"]), [set("old", ["waiting"])]],
      { new: 2, old: 1, ...noMachines },
    ],
    ["shrinks a new set that is too large", [bounds(1, 0, 1), fresh(3), []], { new: 1, ...noMachines }],
    [
      "takes back to its set what was updated for that set's template",
      [bounds(2, 0, 1), set("new", ["outdated", "waiting"]), [set("old", [])]],
      { new: 1, old: 1, transfer: ["new-0 to old"], select: [] },
    ],
    [
      "keeps what was updated for a set that is no more",
      [bounds(2, 0, 1), set("new", ["outdated", "waiting"]), [set("older", [])]],
      { new: 2, older: 0, ...noMachines },
    ],
    [
      "deletes an old machine for one of the surge while no replacement may start",
      [{ ...bounds(3, 0, 0, false), isHeld: true }, fresh(1), [set("old", ["waiting", "waiting", "waiting"])]],
      { new: 1, old: 2, ...noMachines },
    ],
    [
      "deletes none for one that does not serve yet while no replacement may start",
      [
        { ...bounds(3, 0, 0, false), isHeld: true },
        set("new", ["-waiting"]),
        [set("old", ["waiting", "waiting", "waiting"])],
      ],
      { new: 1, old: 3, ...noMachines },
    ],
    [
      "makes and selects nothing while frozen, and hands over all the same",
      [bounds(4, 1, 1), fresh(0), [set("old", ["updated", "waiting", "waiting"])], false],
      { new: 1, old: 2, transfer: ["old-0 to new"], select: [] },
    ],
  ])("%s", (_, given, expected) => {
    expect(planOf(...given)).toEqual(expected);
  });
});
