import { annotationKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineSet, annotated } from "../../testing/builders.ts";
import { newRevision, revisionAnnotations, revisionOf } from "./revision.ts";

const { revision, revisionHistory } = annotationKeys;
const withRevision = (value: string, history?: string) =>
  aMachineSet(annotated({ [revision]: value, ...(history === undefined ? {} : { [revisionHistory]: history }) }));

describe("revisionOf", () => {
  it.each([
    ["7", 7],
    ["", 0],
    ["-1", 0],
    ["1.5", 0],
    ["9".repeat(16), 0],
  ])("reads %j as %d", (text, expected) => {
    expect(revisionOf(withRevision(text))).toBe(expected);
    expect(revisionOf(aMachineSet())).toBe(0);
  });
});

describe("newRevision", () => {
  it("is greater than that of all others", () => {
    expect(newRevision([])).toBe(1);
    expect(newRevision([withRevision("3"), withRevision("12"), aMachineSet()])).toBe(13);
  });
});

describe("revisionAnnotations", () => {
  it("give a new set its revision and no history", () => {
    expect(revisionAnnotations(undefined, 4)).toEqual({ [revision]: "4" });
    expect(revisionAnnotations(aMachineSet(), 4)).toEqual({ [revision]: "4" });
  });

  it("move the revision that a set had to its history", () => {
    expect(revisionAnnotations(withRevision("2", "1"), 4)).toEqual({ [revision]: "4", [revisionHistory]: "1,2" });
  });

  it("change nothing while the revision is still the greatest, so that the history does not grow with every change", () => {
    expect(revisionAnnotations(withRevision("4", "1"), 4)).toEqual({});
    expect(revisionAnnotations(withRevision("9", "1"), 4)).toEqual({});
  });

  it("remember each revision once, and only the last twenty", () => {
    expect(revisionAnnotations(withRevision("2", "1,2,,3"), 4)[revisionHistory]).toBe("1,3,2");
    const long = Array.from({ length: 40 }, (_, index) => index + 1).join(",");
    const history = revisionAnnotations(withRevision("41", long), 42)[revisionHistory]?.split(",");
    expect(history).toHaveLength(20);
    expect(history?.at(-1)).toBe("41");
  });

  it("keep a history of a set whose own revision is lost", () => {
    const set = aMachineSet(annotated({ [revisionHistory]: "1,2" }));
    expect(revisionAnnotations(set, 4)).toEqual({ [revision]: "4", [revisionHistory]: "1,2" });
  });
});
