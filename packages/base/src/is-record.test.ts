import { expect, it } from "vitest";
import { isRecord } from "./is-record.ts";

it.each([[{}], [{ a: null }], [Object.create(null)], [JSON.parse('{"__proto__":1}')]])(
  "takes %j for a JSON object",
  (value: unknown) => {
    expect(isRecord(value)).toBe(true);
  },
);

it.each([[null], [undefined], [[]], [[{}]], ["{}"], [0], [true], [() => ({})]])(
  "takes %j for none",
  (value: unknown) => {
    expect(isRecord(value)).toBe(false);
  },
);
