import { expect, it } from "vitest";
import * as z from "zod";
import { goObject } from "../driver/go-object.ts";
import { withFallbackValues } from "./with-fallback-values.ts";

const shape = { region: z.string(), image: z.string(), size: z.int().default(3), zone: z.string().optional() };
const schema = goObject(withFallbackValues(shape, ["region"], { image: "none" }));

it.each<[string, object, object]>([
  ["what is valid", { region: "a", image: "i", size: 1, zone: "z" }, { region: "a", image: "i", size: 1, zone: "z" }],
  ["fallback values and defaults for what is missing", { region: "a" }, { region: "a", image: "none", size: 3 }],
  [
    "the same for what is invalid",
    { region: "a", image: 1, size: "x", zone: 2 },
    { region: "a", image: "none", size: 3 },
  ],
])("a lenient schema reads %s", (_, spec, expected) => {
  const read = schema.parse(spec);
  expect(JSON.parse(JSON.stringify(read))).toEqual(expected);
});

it("rejects a field that is needed and invalid", () => {
  expect(schema.safeParse({ region: 7 }).error?.issues.map(({ path }) => path)).toEqual([["region"]]);
});
