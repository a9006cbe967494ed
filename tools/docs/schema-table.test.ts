import { describe, expect, it } from "vitest";
import { schemaTable } from "./schema-table.ts";

describe("a table of a schema", () => {
  it("has a row for every field, with path, type, default and meaning", () => {
    const schema = {
      type: "object",
      required: ["size", "disks", "grows"],
      properties: {
        size: { enum: ["", "small", "large"], type: "string", description: "How large." },
        grows: { type: "boolean", default: false },
        labels: { type: "object", additionalProperties: { type: "string" } },
        disks: {
          type: "array",
          items: {
            type: "object",
            required: ["gib"],
            properties: { gib: { type: "integer" }, key: { type: "string" } },
          },
        },
        cpu: { type: "object", properties: { cores: { type: "integer", default: 1 } }, description: "CPU | cores." },
      },
    };
    const rows = schemaTable(schema)
      .split("\n")
      .slice(2)
      .map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual([
      ["`size`", "`small`, `large`", "required", "How large."],
      ["`grows`", "boolean", "`false`", ""],
      ["`labels`", "map of texts", "", ""],
      ["`disks`", "list of object", "required", ""],
      ["`disks[].gib`", "integer", "required", ""],
      ["`disks[].key`", "text", "", ""],
      ["`cpu`", "object", "", "CPU \\| cores."],
      ["`cpu.cores`", "integer", "`1`", ""],
    ]);
  });

  it("is empty for a value that is not a schema", () => {
    expect(schemaTable(undefined).split("\n")).toHaveLength(2);
  });
});
