import { expect, test } from "vitest";
import { createRecentPool } from "./recent-pool.ts";

test("returns the first value of a key", () => {
  const pool = createRecentPool<object>(2);
  const first = {};
  expect(pool.get("a", () => first)).toBe(first);
  expect(pool.get("a", () => ({}))).toBe(first);
});

test("keeps keys that are used and drops others, within its limit", () => {
  const pool = createRecentPool<string>(4);
  let made = 0;
  const ask = (key: string): string => pool.get(key, () => (made++, key));
  for (let index = 0; index < 100; index += 1) {
    ask("hot");
    ask(`cold-${index}`);
  }
  expect(made).toBe(101);
  ask("cold-0");
  expect(made).toBe(102);
});
