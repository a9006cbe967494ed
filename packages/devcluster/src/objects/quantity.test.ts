import { expect, test } from "vitest";
import { canonicalQuantity } from "./quantity.ts";

test.each([
  ["1", "1"],
  ["0.5", "500m"],
  ["2000m", "2"],
  ["1500m", "1500m"],
  ["1000000", "1M"],
  ["1024Mi", "1Gi"],
  ["4194304Ki", "4Gi"],
  ["1.5Gi", "1536Mi"],
  ["1e3", "1e3"],
  ["-2", "-2"],
  [".5", "500m"],
  ["0", "0"],
  ["0.1n", "1n"],
])("writes %s as %s", (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each(["", "lots", "1.2.3", "1 Gi", "Ki", ".", "1gi"])("%j is not a quantity", (text) => {
  expect(canonicalQuantity(text)).toBeUndefined();
});
