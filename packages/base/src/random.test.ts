import { describe, expect, it } from "vitest";
import { seededRandom, suffixAlphabet, systemRandom } from "./random.ts";

describe.each([
  ["systemRandom", systemRandom],
  ["seededRandom", seededRandom(7)],
])("%s", (_name, random) => {
  it("draws numbers from 0 inclusive to 1 exclusive, spread over the range", () => {
    const values = Array.from({ length: 4000 }, () => random.next());
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
  });

  it("makes suffixes out of the Kubernetes alphabet and uses all of it", () => {
    const drawn = new Set(random.suffix(4000));
    expect([...drawn].toSorted().join("")).toBe(suffixAlphabet.split("").toSorted().join(""));
    expect(random.suffix(5)).toHaveLength(5);
    expect(random.suffix(0)).toBe("");
  });

  it("makes hexadecimal digits, two for each byte", () => {
    expect(random.hex(8)).toMatch(/^[0-9a-f]{16}$/);
  });

  it("makes UUIDs of version 4 that differ", () => {
    const uuids = Array.from({ length: 500 }, () => random.uuid());
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(uuids).size).toBe(500);
  });
});

const draw = (seed: number): readonly string[] => {
  const random = seededRandom(seed);
  return [random.uuid(), random.suffix(5), random.hex(4), String(random.next())];
};

describe("seededRandom", () => {
  it("repeats itself for the same seed and differs for another", () => {
    expect(draw(42)).toEqual(draw(42));
    expect(draw(42)).not.toEqual(draw(43));
  });
});
