import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConditionState } from "../objects/conditions.ts";
import { aggregateConditions, type AggregateOptions, type AggregateSource } from "./aggregate.ts";

const options: AggregateOptions = {
  sourceType: "Ready",
  type: "MachinesReady",
  reasons: { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" },
  emptyReason: "NoReplicas",
};
const source = (
  name: string,
  status?: ConditionState["status"],
  message = "",
  more: { kind?: string; at?: string } = {},
): AggregateSource => ({
  kind: more.kind ?? "Machine",
  name,
  condition:
    status === undefined
      ? undefined
      : {
          type: "Ready",
          status,
          reason: "R",
          message,
          ...(more.at === undefined ? {} : { lastTransitionTime: more.at }),
        },
});

// Cases of Cluster API, `util/conditions/aggregate_test.go`, and ours.
describe("aggregate", () => {
  it.each<[string, readonly AggregateSource[], string, string, string]>([
    ["is content with no objects", [], "True", "NoReplicas", ""],
    [
      "names the one of three that has an issue",
      [source("m1", "False", "x"), source("m2", "True"), source("m3", "True")],
      "False",
      "NotReady",
      "* Machine m1: x",
    ],
    [
      "names three of five with the same message",
      ["a", "b", "c", "d", "e"].map((name) => source(name, "False", "Message-1")),
      "False",
      "NotReady",
      "* Machines a, b, c, ... (2 more): Message-1",
    ],
    [
      "shows three messages and counts the rest",
      ["a", "b", "c", "d"].map((name) => source(name, "False", `m-${name}`)),
      "False",
      "NotReady",
      "* Machine a: m-a\n* Machine b: m-b\n* Machine c: m-c\nAnd 1 Machine with other issues",
    ],
    [
      "counts what is unknown when issues took all the room",
      [
        ...["a", "b", "c"].map((name) => source(name, "False", `m-${name}`)),
        ...["p", "q", "r", "s", "t"].map((name) => source(name, "Unknown", "u")),
      ],
      "False",
      "NotReady",
      "* Machine a: m-a\n* Machine b: m-b\n* Machine c: m-c\nAnd 5 Machines with status unknown",
    ],
    [
      "puts a bulleted text on lines of its own",
      [source("m", "False", "* A: x\n* B: y")],
      "False",
      "NotReady",
      "* Machine m:\n  * A: x\n  * B: y",
    ],
    [
      "nests bullets under plain lines",
      [source("m", "False", "Message-4\n* More")],
      "False",
      "NotReady",
      "* Machine m:\n  * Message-4\n    * More",
    ],
    [
      "shares the room among kinds, by name of the kind",
      [
        source("z", "False", "z1", { kind: "Set" }),
        source("y", "False", "y1", { kind: "Set" }),
        source("a", "False", "a1"),
        source("b", "False", "b1"),
      ],
      "False",
      "NotReady",
      "* Machine a: a1\n* Machine b: b1\n* Set y: y1\nAnd 1 Set with other issues",
    ],
    ["has no message when all is well", [source("a", "True"), source("b", "True")], "True", "Ready", ""],
    [
      "lists what is well only when everything is",
      [source("a", "True", "fine"), source("b", "True")],
      "True",
      "Ready",
      "* Machine a: fine",
    ],
    [
      "counts further info messages, too",
      ["a", "b", "c", "d"].map((name) => source(name, "True", `m-${name}`)),
      "True",
      "Ready",
      "* Machine a: m-a\n* Machine b: m-b\n* Machine c: m-c\nAnd 1 Machine with additional info",
    ],
    [
      "takes what is missing for unknown",
      [source("a"), source("b", "True", "fine")],
      "Unknown",
      "ReadyUnknown",
      "* Machine a: Condition Ready not yet reported",
    ],
    ["shows an empty message after the colon", [source("a", "False")], "False", "NotReady", "* Machine a: "],
    [
      "lists the worst first, then the most frequent, then by name",
      [
        source("a", "Unknown", "u"),
        source("b", "False", "one"),
        source("c", "False", "two"),
        source("d", "False", "two"),
      ],
      "False",
      "NotReady",
      "* Machines c, d: two\n* Machine b: one\n* Machine a: u",
    ],
    [
      "takes a message that is both issue and unknown for an issue",
      [source("a", "Unknown", "same"), source("b", "False", "same"), source("c", "False", "same")],
      "False",
      "NotReady",
      "* Machines a, b, c: same",
    ],
  ])("%s", (_, sources, status, reason, message) => {
    expect(aggregateConditions(sources, options)).toEqual({ type: "MachinesReady", status, reason, message });
  });

  it("turns a negative condition round, and results in one", () => {
    const negative: AggregateOptions = { ...options, polarity: "negative", resultPolarity: "negative" };
    expect(aggregateConditions([source("a", "True", "x"), source("b", "False")], negative)).toMatchObject({
      status: "True",
      reason: "NotReady",
      message: "* Machine a: x",
    });
    expect(aggregateConditions([source("b", "False")], negative)).toMatchObject({ status: "False", reason: "Ready" });
    expect(aggregateConditions([], negative).status).toBe("False");
  });

  it("does not depend on the order of the objects, and is never too long", () => {
    const sources = fc.uniqueArray(
      fc
        .tuple(
          fc.constantFrom("a", "b", "c", "d", "e", "f"),
          fc.constantFrom<(ConditionState["status"] | undefined)[]>("True", "False", "Unknown", undefined),
          fc.constantFrom("", "x", "y", "* z"),
          fc.constantFrom(undefined, "2026-01-01T00:00:00Z"),
        )
        .map(([name, status, message, at]) => source(name, status, message, at === undefined ? {} : { at })),
      { selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(sources, (given) => {
        const result = aggregateConditions(given, options);
        expect(aggregateConditions(given.toReversed(), options)).toEqual(result);
        expect(result.message.split("\n").filter((line) => line.startsWith("* Machine")).length).toBeLessThanOrEqual(3);
        expect(result.status === "True").toBe(given.every(({ condition }) => condition?.status === "True"));
      }),
    );
  });

  it("cuts a message that the API would refuse", () => {
    expect(aggregateConditions([source("a", "False", "x".repeat(40_000))], options).message).toHaveLength(32_768);
  });
});
