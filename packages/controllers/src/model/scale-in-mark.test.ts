import { annotationKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachine, aMachineSet, annotated } from "../testing/builders.ts";
import { hasMark, stateOfMark } from "./scale-in-mark.ts";

const early = "2026-01-01T11:00:00Z";
const late = "2026-01-01T13:00:00Z";

it.each<[string, { priority?: string; mark?: string; scaled?: string }, ReturnType<typeof stateOfMark>]>([
  ["a mark as old as the change", { priority: "1", mark: early, scaled: early }, "counts"],
  ["a mark that waits for its change", { priority: "1", mark: late, scaled: early }, "waits"],
  ["a mark without scaling", { priority: "1", mark: early }, "waits"],
  ["a change that is no time", { priority: "1", mark: early, scaled: "now" }, "waits"],
  ["a priority set by hand", { priority: "1", scaled: late }, "none"],
  ["a mark without the priority", { mark: early, scaled: late }, "none"],
  ["a mark that is no time", { priority: "1", mark: "soon", scaled: late }, "none"],
])("goes by priority, mark and the autoscaler's last change: %s", (_, { priority, mark, scaled }, state) => {
  const machine = aMachine(
    annotated({
      ...(priority === undefined ? {} : { [annotationKeys.machinePriority]: priority }),
      ...(mark === undefined ? {} : { [annotationKeys.markedForDeletionTime]: mark }),
    }),
  );
  const set = aMachineSet(
    scaled === undefined ? {} : annotated({ [annotationKeys.lastReplicaChangeByScaler]: scaled }),
  );
  expect(stateOfMark(machine, set)).toBe(state);
  expect(hasMark(machine)).toBe(mark !== undefined);
});
