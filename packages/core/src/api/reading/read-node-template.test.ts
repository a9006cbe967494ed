import { describe, expect, it } from "vitest";
import { readNodeTemplateSpec } from "./read-node-template.ts";

describe("readNodeTemplateSpec", () => {
  it("reads what Go wrote", () => {
    const text =
      '{"metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}';
    expect(readNodeTemplateSpec(JSON.parse(text))).toEqual({
      metadata: { labels: { a: "b" } },
      spec: { taints: [{ key: "k", effect: "NoSchedule" }] },
    });
  });

  it.each([[null], ["x"], [[]], [{ metadata: { labels: { a: 1 } } }], [{ spec: { taints: "x" } }]])(
    "refuses %j",
    (raw) => {
      expect(readNodeTemplateSpec(raw)).toBeUndefined();
    },
  );

  it("refuses a key that could reach a prototype", () => {
    expect(readNodeTemplateSpec(JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}'))).toBeUndefined();
  });
});
