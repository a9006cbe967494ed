import { describe, expect, it } from "vitest";
import { stableHash } from "./stable-hash.ts";

describe("a stable hash", () => {
  it("does not depend on the order of keys, at any depth", () => {
    expect(stableHash({ a: 1, b: { c: [{ d: 2, e: 3 }], f: 4 } })).toBe(
      stableHash({ b: { f: 4, c: [{ e: 3, d: 2 }] }, a: 1 }),
    );
  });

  it("depends on values, and on the order of lists", () => {
    const hashes = [{ a: [1, 2] }, { a: [2, 1] }, { a: ["1", "2"] }, {}, undefined].map(stableHash);
    expect(new Set(hashes).size).toBe(5);
  });
});
