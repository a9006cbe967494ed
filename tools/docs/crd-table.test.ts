import { describe, expect, it } from "vitest";
import { crdTable, shapeOf } from "./crd-table.ts";

const timeout = {
  description: "How long it may take; Go duration such as 20m or 1h30m. Default: --machine-drain-timeout.",
  type: "string",
  "x-kubernetes-validations": [{ rule: "self != ''", message: "must be a Go duration of zero or more" }],
};
const ref = (description: string): unknown => ({
  description,
  type: "object",
  properties: { name: { description, type: "string" } },
});
const schema = {
  properties: {
    replicas: { type: "integer", description: "Number. Default: 0." },
    maxSurge: { "x-kubernetes-int-or-string": true, description: "Surge." },
    labels: { type: "object", additionalProperties: { type: "string" } },
    drainTimeout: timeout,
    class: { ...Object(ref("The class.")), "x-kubernetes-validations": [{ message: "name must be there" }] },
    conditions: {
      type: "array",
      items: {
        required: ["type"],
        properties: { type: { type: "string" }, since: { type: "string", format: "date-time" } },
      },
    },
  },
  required: ["class"],
};
const cellsOf = (table: string): readonly (readonly string[])[] =>
  table
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe("a table of a CRD", () => {
  it("has type, default, rules and meaning of every field", () => {
    expect(cellsOf(crdTable(schema, "spec.", new Map()))).toEqual([
      ["`spec.replicas`", "integer", "0", "Number."],
      ["`spec.maxSurge`", "number or percentage", "", "Surge."],
      ["`spec.labels`", "map", "", ""],
      ["`spec.drainTimeout`", "text", "`--machine-drain-timeout`", "How long it may take; a Go duration."],
      ["`spec.class`", "object", "required", "The class. Rule: name must be there."],
      ["`spec.class.name`", "text", "", "The class."],
      ["`spec.conditions`", "list of anything", "", ""],
      ["`spec.conditions[].type`", "text", "required", ""],
      ["`spec.conditions[].since`", "time", "", ""],
    ]);
  });

  it("links to a shape that has a table of its own, whatever its texts and rules are", () => {
    const shared = new Map([[shapeOf(ref("Another text.")), "[reference](#references)"]]);
    const rows = cellsOf(crdTable(schema, "", shared));
    expect(rows).toContainEqual([
      "`class`",
      "[reference](#references)",
      "required",
      "The class. Rule: name must be there.",
    ]);
    expect(rows.map(([path]) => path)).not.toContain("`class.name`");
  });

  it("is empty for a value that is not a schema", () => {
    expect(cellsOf(crdTable(undefined, "", new Map()))).toEqual([]);
  });
});
