import { expect, it } from "vitest";
import { createLabelSets } from "./label-sets.ts";

it("gives back labels once, when nobody needs them and they were not used for as long as they are kept", () => {
  let ms = 0;
  const sets = createLabelSets<{ readonly of: string }>(() => ms, 100);
  sets.use({ of: "a" });
  sets.use({ of: "needed" });
  const isNeeded = ({ of }: { readonly of: string }): boolean => of === "needed";
  expect(sets.takeOver(isNeeded)).toEqual([]);
  ms = 60;
  sets.use({ of: "a" });
  ms = 159;
  expect(sets.takeOver(isNeeded)).toEqual([]);
  ms = 160;
  expect(sets.takeOver(isNeeded)).toEqual([{ of: "a" }]);
  expect(sets.takeOver(isNeeded)).toEqual([]);
  expect(sets.takeOver(() => false)).toEqual([{ of: "needed" }]);
});
