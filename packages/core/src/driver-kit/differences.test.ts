import { describe, expect, it } from "vitest";
import { differencesFound } from "./differences.ts";

describe("the differences between a VM and its class", () => {
  it("are listed as texts, in the order of their fields", () => {
    const found = differencesFound((compare) => {
      compare("zone", 1, 2);
      compare("image", "a", "b");
      compare("ipForward", true, false);
    });
    expect(found).toStrictEqual([
      { field: "image", wanted: "a", found: "b" },
      { field: "ipForward", wanted: "true", found: "false" },
      { field: "zone", wanted: "1", found: "2" },
    ]);
  });

  it("are none where the class does not ask, or the cloud does not show", () => {
    const found = differencesFound((compare) => {
      compare("a", undefined, "x");
      compare("b", null, "x");
      compare("c", "x", undefined);
      compare("d", "x", null);
    });
    expect(found).toStrictEqual([]);
  });

  it("are some where the cloud shows nothing, or the class wants nothing", () => {
    const found = differencesFound((compare) => {
      compare("a", "x", "");
      compare("b", "", "x");
      compare("c", false, true);
      compare("d", 0, 1);
    });
    expect(found.map(({ field }) => field)).toStrictEqual(["a", "b", "c", "d"]);
  });

  it("are none between values that are the same, in the letters that count", () => {
    const pairs = [
      ["size", "Standard_D2s", "standard_d2s"],
      ["count", 2, "2"],
    ] as const;
    const all = (isSame?: (a: string, b: string) => boolean) =>
      differencesFound((compare) => {
        for (const [field, wanted, found] of pairs) compare(field, wanted, found);
      }, isSame).map(({ field }) => field);
    expect(all()).toStrictEqual(["size"]);
    expect(all((a, b) => a.toLowerCase() === b.toLowerCase())).toStrictEqual([]);
  });
});
