import { describe, expect, it } from "vitest";
import { formatProblems } from "../problems/field-problem.ts";
import { validateObjectMeta } from "./validate-object-meta.ts";

describe("validateObjectMeta", () => {
  it.each(["pool", "0", "a.b-c.d0", "a".repeat(253)])("accepts the name %s", (name) => {
    expect(validateObjectMeta({ name })).toEqual([]);
  });

  it.each(["", "Pool", "pool_1", "pool one", "-pool", "pool.", "a..b", "pøøl", "pool\n"])(
    "refuses the name %j in the words of the API server",
    (name) => {
      expect(formatProblems(validateObjectMeta({ name }))).toContain(
        `metadata.name: is ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters`,
      );
    },
  );

  it("refuses a name that is too long without quoting all of it", () => {
    const text = formatProblems(validateObjectMeta({ name: "a".repeat(254) }));
    expect(text).toContain("must be no more than 253 characters");
    expect(text.length).toBeLessThan(200);
  });

  it("refuses keys and values of labels, keys of annotations, and finalizers", () => {
    const metadata = { name: "pool", labels: { "a b": "c", d: "e f" }, annotations: { "/": "x" }, finalizers: ["?"] };
    expect(validateObjectMeta(metadata).map(({ path }) => path)).toEqual([
      "metadata.labels[a b]",
      "metadata.labels.d",
      "metadata.annotations[/]",
      "metadata.finalizers[0]",
    ]);
  });
});
