import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareResourceVersions, isNewer } from "./resource-version.ts";

const version = fc.bigInt({ min: 0n, max: 2n ** 80n }).chain((n) => fc.nat(3).map((zeros) => "0".repeat(zeros) + n));

test("orders versions of any size as the integers that they are", () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
      expect(Math.sign(compareResourceVersions(a, b) ?? Number.NaN)).toBe(expected);
    }),
  );
});

test("cannot compare versions that are not decimal numbers", () => {
  expect(compareResourceVersions("abc", "1")).toBeUndefined();
  expect(compareResourceVersions("", "1")).toBeUndefined();
  expect(compareResourceVersions(undefined, "1")).toBeUndefined();
  expect(isNewer("x", "1")).toBe(false);
});
