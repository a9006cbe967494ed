import { describe, expect, it } from "vitest";
import * as z from "zod";
import { goObject } from "../driver/go-object.ts";
import type { StandardSchemaV1 } from "../driver/standard-schema.ts";
import { formatUnknownKeys, unknownKeysOf } from "./unknown-keys.ts";

const spec = goObject({
  machineType: z.string(),
  spotPrice: z.string().optional(),
  fallbacks: z.array(goObject({ machineType: z.string().optional(), zone: z.string().optional() })).default([]),
  tags: z.record(z.string(), z.string()).optional(),
  disks: z.record(z.string(), goObject({ size: z.int() })).optional(),
  image: z.union([z.string(), goObject({ path: z.string() })]).optional(),
}).superRefine(() => undefined);

const keysOf = (providerSpec: unknown, schema: StandardSchemaV1 = spec): string =>
  formatUnknownKeys(unknownKeysOf({ spec: schema }, providerSpec));

describe("unknown keys of a spec", () => {
  it.each<[unknown, string]>([
    [{ machineType: "m", spotPrice: "1", tags: { "a.b/c": "1" } }, ""],
    [{ MachineType: "m", FALLBACKS: [{ Zone: "a" }] }, ""],
    [{ spotPrce: "1" }, 'providerSpec.spotPrce (did you mean "spotPrice"?)'],
    [
      { machineTyp: "m", fallbaks: [] },
      'providerSpec.machineTyp (did you mean "machineType"?), providerSpec.fallbaks (did you mean "fallbacks"?)',
    ],
    [
      { fallbacks: [{}, { zones: "a", color: "red" }] },
      'providerSpec.fallbacks[1].zones (did you mean "zone"?), providerSpec.fallbacks[1].color',
    ],
    [{ disks: { root: { size: 1, sizes: 2 } } }, 'providerSpec.disks.root.sizes (did you mean "size"?)'],
    [{ image: { path: "p", pth: "q" } }, 'providerSpec.image.pth (did you mean "path"?)'],
    [{ "a.b/c": 1 }, "providerSpec[a.b/c]"],
    [{ spotPrice: { deep: { deeper: 1 } } }, ""],
    [null, ""],
    ["text", ""],
    [[{ a: 1 }], ""],
  ])("%j: %s", (providerSpec, expected) => {
    expect(keysOf(providerSpec)).toBe(expected);
  });

  it("counts case where the schema does", () => {
    expect(keysOf({ machinetype: "m" }, z.object({ machineType: z.string().optional() }))).toBe(
      'providerSpec.machinetype (did you mean "machineType"?)',
    );
  });

  it.each<[string, StandardSchemaV1]>([
    ["declares no JSON Schema", { "~standard": { version: 1, vendor: "other", validate: (value) => ({ value }) } }],
    ["cannot express it", z.object({ at: z.date() })],
    ["takes further keys", z.looseObject({ machineType: z.string().optional() })],
    ["takes anything", z.unknown()],
    ["takes any object", z.record(z.string(), z.unknown())],
  ])("are none where the schema %s", (_, schema) => {
    expect(keysOf({ anything: { nested: [1] } }, schema)).toBe("");
  });

  it("are found in a schema that refers to itself, and listed up to ten", () => {
    const tree = z.object({
      get children() {
        return z.array(tree).optional();
      },
    });
    expect(keysOf({ children: [{ children: [{ childen: 1 }] }] }, tree)).toBe(
      'providerSpec.children[0].children[0].childen (did you mean "children"?)',
    );
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`other${index}`, 1]));
    expect(unknownKeysOf({ spec: tree }, many)).toHaveLength(10);
  });
});
