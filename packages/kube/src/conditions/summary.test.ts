import { describe, expect, it } from "vitest";
import { type DerivedCondition, cutText } from "./derived-condition.ts";
import { summarizeConditions, type SummaryPart } from "./summary.ts";

const reasons = { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" };
const part = (
  type: string,
  status: DerivedCondition["status"],
  message = "",
  more: Partial<SummaryPart> = {},
): SummaryPart => ({
  type,
  polarity: "positive",
  condition: { type, status, reason: `R-${type}`, message },
  ...more,
});

// Cases of Cluster API, `util/conditions/summary_test.go`, and ours.
describe("summary", () => {
  it.each<[string, readonly SummaryPart[], string, string, string]>([
    [
      "lists issues in order, by their reason where there is no message",
      [part("A", "False", "m"), part("D", "False"), part("C", "True", "x")],
      "False",
      "NotReady",
      "* A: m\n* D: R-D",
    ],
    [
      "lists info messages when there are no others",
      [part("A", "True", "fine"), part("B", "True")],
      "True",
      "Ready",
      "* A: fine",
    ],
    ["nests several lines", [part("A", "False", "* x\n* y")], "False", "NotReady", "* A:\n  * x\n  * y"],
    [
      "knows negative conditions",
      [part("Deleting", "True", "going", { polarity: "negative" })],
      "False",
      "NotReady",
      "* Deleting: going",
    ],
    [
      "is content with a negative one that is False",
      [part("Deleting", "False", "", { polarity: "negative" })],
      "True",
      "Ready",
      "",
    ],
    [
      "is unknown when something is",
      [part("A", "Unknown"), part("B", "True", "x")],
      "Unknown",
      "ReadyUnknown",
      "* A: R-A",
    ],
    [
      "takes what is missing for unknown",
      [part("A", "True", "", { condition: undefined })],
      "Unknown",
      "ReadyUnknown",
      "* A: Condition not yet reported",
    ],
    [
      "goes by another severity where one is given",
      [part("A", "False", "gone", { severity: "info" })],
      "True",
      "Ready",
      "* A: gone",
    ],
  ])("%s", (_, parts, status, reason, message) => {
    expect(summarizeConditions("Ready", parts, reasons)).toEqual({ type: "Ready", status, reason, message });
  });
});

describe("cutText", () => {
  it("cuts a text of a provider, and shows that it did", () => {
    expect(cutText("x".repeat(600))).toBe(`${"x".repeat(511)}…`);
    expect(cutText("short")).toBe("short");
  });
});
