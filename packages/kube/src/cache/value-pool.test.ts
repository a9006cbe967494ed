import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createValuePool } from "./value-pool.ts";

test("freezes a value all the way down and changes nothing in it", () => {
  const value = { a: "a string of some length", b: [{ c: "a string of some length" }, null, 1], uid: "x".repeat(36) };
  const before = structuredClone(value);
  expect(createValuePool().freezeShared(value)).toBe(value);
  expect(value).toEqual(before);
  expect([value, value.b, value.b[0]].every((part) => Object.isFrozen(part))).toBe(true);
});

test("does not change frozen values and primitives", () => {
  const pool = createValuePool();
  const frozen = Object.freeze({ a: { b: 1 } });
  pool.freezeShared(frozen);
  expect(Object.isFrozen(frozen.a)).toBe(false);
  expect(pool.freezeShared("text")).toBe("text");
  expect(pool.freezeShared(null)).toBeNull();
});

test("goes on after more different strings than it holds", () => {
  const pool = createValuePool();
  for (let index = 0; index < 20_000; index++) {
    expect(pool.freezeShared({ label: `a-rather-long-value-${index}` }).label).toBe(`a-rather-long-value-${index}`);
  }
});

const parts = fc.letrec<{ json: unknown; object: object }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small" },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie("object"),
    fc.array(tie("json"), { maxLength: 3 }),
  ),
  object: fc.dictionary(fc.constantFrom("a", "b", "c", "name", "uid"), tie("json"), { maxKeys: 4 }),
})).object;

const isFrozenAllOver = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozenAllOver));

test("leaves every value as it was, whatever it shares with others and with its former state", () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 10 }), (values) => {
      const pool = createValuePool();
      let former: object | undefined;
      for (const value of values) {
        const before = structuredClone(value);
        const kept = former === undefined ? pool.freezeShared(value) : pool.freezeChanged(value, former);
        expect(kept).toEqual(before);
        expect(JSON.stringify(kept)).toBe(JSON.stringify(before));
        expect(isFrozenAllOver(kept)).toBe(true);
        former = kept;
      }
    }),
  );
});

test("gives equal parts of different objects one place, and what did not change the place that it had", () => {
  const pool = createValuePool();
  const make = (name: string, phase: string) => ({
    metadata: { name },
    spec: { tolerations: [{ key: "node.kubernetes.io/not-ready" }], own: { name } },
    status: { phase },
  });
  const a = pool.freezeShared(make("a", "Pending"));
  const b = pool.freezeShared(make("b", "Pending"));
  expect(b.spec.tolerations).toBe(a.spec.tolerations);
  expect(b.spec.own).not.toBe(a.spec.own);
  const next = pool.freezeChanged(make("a", "Running"), a);
  expect(next.spec).toBe(a.spec);
  expect(next).toEqual(make("a", "Running"));
});
