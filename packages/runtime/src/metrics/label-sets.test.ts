import { describe, expect, it } from "vitest";
import { createLabelSets } from "./label-sets.ts";

function setUp(most = 10) {
  let ms = 0;
  const needed = new Set(["needed"]);
  const forgotten: string[] = [];
  const sets = createLabelSets<{ readonly of: string }>({
    monotonicMs: () => ms,
    keepMs: 100,
    most,
    isNeeded: (labels) => needed.has(labels.of),
    onForget: (labels) => void forgotten.push(labels.of),
  });
  const forgottenAt = (at: number): readonly string[] => {
    ms = at;
    sets.forget();
    return forgotten.splice(0);
  };
  const useAt = (at: number, of: string): void => {
    ms = at;
    sets.use({ of });
  };
  return { useAt, forgottenAt, forgotten, needed };
}

describe("labels in use", () => {
  it("are removed once, when they are neither needed nor used for the retention time", () => {
    const { useAt, forgottenAt, needed } = setUp();
    useAt(0, "needed");
    useAt(0, "a");
    expect(forgottenAt(0)).toEqual([]);
    useAt(60, "a");
    expect(forgottenAt(159)).toEqual([]);
    expect(forgottenAt(160)).toEqual(["a"]);
    expect(forgottenAt(161)).toEqual([]);
    needed.clear();
    expect(forgottenAt(162)).toEqual(["needed"]);
  });

  it("are only so many, the lately used ones", () => {
    const { useAt, forgotten } = setUp(2);
    useAt(0, "needed");
    useAt(1, "a");
    useAt(2, "needed");
    useAt(3, "b");
    expect(forgotten).toEqual(["a"]);
    useAt(4, "c");
    expect(forgotten).toEqual(["a", "needed"]);
  });
});
