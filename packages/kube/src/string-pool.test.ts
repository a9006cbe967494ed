import { expect, test } from "vitest";
import { createStringPool } from "./string-pool.ts";

test("freezes a value all the way down and changes nothing in it", () => {
  const value = { a: "a string of some length", b: [{ c: "a string of some length" }, null, 1], uid: "x".repeat(36) };
  const before = structuredClone(value);
  expect(createStringPool().freezeShared(value)).toBe(value);
  expect(value).toEqual(before);
  expect([value, value.b, value.b[0]].every((part) => Object.isFrozen(part))).toBe(true);
});

test("leaves values alone that are frozen, and what is no object", () => {
  const pool = createStringPool();
  const frozen = Object.freeze({ a: { b: 1 } });
  pool.freezeShared(frozen);
  expect(Object.isFrozen(frozen.a)).toBe(false);
  expect(pool.freezeShared("text")).toBe("text");
  expect(pool.freezeShared(null)).toBeNull();
});

test("goes on after more different strings than it holds", () => {
  const pool = createStringPool();
  for (let index = 0; index < 20_000; index++) {
    expect(pool.freezeShared({ label: `a-rather-long-value-${index}` }).label).toBe(`a-rather-long-value-${index}`);
  }
});
