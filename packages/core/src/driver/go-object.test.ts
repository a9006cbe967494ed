import { describe, expect, it } from "vitest";
import * as z from "zod";
import { goObject } from "./go-object.ts";

const schema = goObject({
  machineType: z.string(),
  ebs: goObject({ volumeSize: z.number() }).optional(),
  tags: z.record(z.string(), z.string()).default({}),
});

describe("an object as Go reads it", () => {
  it("takes keys in any case, at every level, and leaves those of maps alone", () => {
    expect(schema.parse({ MACHINETYPE: "m", Ebs: { volumesize: 3 }, tags: { Name: "x", name: "y" } })).toEqual({
      machineType: "m",
      ebs: { volumeSize: 3 },
      tags: { Name: "x", name: "y" },
    });
  });

  it("ignores unknown keys and takes null for absent", () => {
    expect(schema.parse({ machineType: "m", later: [1], ebs: null, tags: null })).toEqual({
      machineType: "m",
      tags: {},
    });
  });

  it("lets the last of several keys win, and a null lose", () => {
    expect(schema.parse({ machineType: "a", MachineType: "b", machinetype: null })).toMatchObject({ machineType: "b" });
  });

  it("names the field of what does not fit, as the schema spells it", () => {
    const paths = (value: unknown) => schema.safeParse(value).error?.issues.map(({ path }) => path.join("."));
    expect(paths({ MachineType: "m", EBS: { VolumeSize: "3" } })).toEqual(["ebs.volumeSize"]);
    expect(paths({})).toEqual(["machineType"]);
    expect(paths([])).toEqual([""]);
    expect(paths(null)).toEqual([""]);
  });

  it("lets no key reach a prototype", () => {
    const parsed = schema.parse(JSON.parse('{"machineType":"m","__proto__":{"x":1},"constructor":{"y":2}}'));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed).toEqual({ machineType: "m", tags: {} });
  });
});
