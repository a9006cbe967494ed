import { describe, expect, it } from "vitest";
import { aNode } from "../testing/builders.ts";
import { createPodKnowledge } from "./known-pods.ts";

/** A node at a version. */
const nodeAt = (resourceVersion: string, unschedulable = true, uid = "uid-node") =>
  aNode({ metadata: { uid, resourceVersion }, spec: { unschedulable } });

function setUp(version: string | undefined) {
  const cache = { version, lostForMs: 0, isCurrent: true };
  const knowledge = createPodKnowledge({
    resourceVersion: () => cache.version,
    isCurrent: () => cache.isCurrent,
    connectivity: {
      lostForMs: () => cache.lostForMs,
      onRegained: () => () => undefined,
      onLost: () => () => undefined,
    },
  });
  return { cache, knowledge };
}

describe("the pods of a draining node", () => {
  it.each([
    ["9", "10", "unconfirmed"],
    ["10", "10", "complete"],
    ["11", "10", "complete"],
    ["abc", "10", "unconfirmed"],
    ["11", "abc", "unconfirmed"],
    [undefined, "10", "unconfirmed"],
  ] as const)("at version %s, with a cordon at version %s, are %s", (pods, cordon, expected) => {
    expect(setUp(pods).knowledge.of("x/a", nodeAt(cordon))).toBe(expected);
  });

  it("are compared with the cordon, not with later changes of the node", () => {
    const { cache, knowledge } = setUp("9");
    knowledge.note("x/a", [nodeAt("10")]);
    knowledge.note("x/a", [nodeAt("12")]);
    cache.version = "11";
    expect(knowledge.of("x/a", nodeAt("12"))).toBe("complete");
  });

  it("are complete once they were listed after the cordon, whatever the versions", () => {
    const { knowledge } = setUp("abc");
    knowledge.confirm("x/a", "node");
    expect(knowledge.of("x/a", nodeAt("10"))).toBe("unconfirmed");
    knowledge.note("x/a", [nodeAt("10")]);
    knowledge.confirm("x/a", "node");
    expect(knowledge.of("x/a", nodeAt("12"))).toBe("complete");
    expect(knowledge.of("x/b", nodeAt("12"))).toBe("unconfirmed");
  });

  it("of a node that replaced one of the same name are not those that were listed for that", () => {
    const { knowledge } = setUp("9");
    knowledge.note("x/a", [nodeAt("7")]);
    knowledge.confirm("x/a", "node");
    expect(knowledge.of("x/a", nodeAt("12"))).toBe("complete");
    expect(knowledge.of("x/a", nodeAt("12", true, "uid-other"))).toBe("unconfirmed");
  });

  it.each([
    ["was uncordoned", nodeAt("11", false)],
    ["was replaced by one of the same name", nodeAt("12", true, "uid-other")],
    ["is not drained any more", undefined],
  ])("are listed again when the node %s", (_, next) => {
    const { knowledge } = setUp("9");
    knowledge.note("x/a", [nodeAt("10")]);
    knowledge.confirm("x/a", "node");
    knowledge.note("x/a", next === undefined ? [] : [next]);
    expect(knowledge.of("x/a", next ?? nodeAt("12"))).toBe("unconfirmed");
  });

  it("of several nodes are complete where they were listed", () => {
    const { knowledge } = setUp("9");
    const second = aNode({
      metadata: { name: "second", uid: "uid-second", resourceVersion: "10" },
      spec: { unschedulable: true },
    });
    knowledge.note("x/a", [nodeAt("10"), second]);
    knowledge.confirm("x/a", "second");
    knowledge.note("x/a", [nodeAt("10"), second]);
    expect([knowledge.of("x/a", nodeAt("10")), knowledge.of("x/a", second)]).toEqual(["unconfirmed", "complete"]);
  });

  it("stay complete while the cache is disconnected, once they were listed after the cordon", () => {
    const { cache, knowledge } = setUp("9");
    knowledge.note("x/a", [nodeAt("10")]);
    knowledge.confirm("x/a", "node");
    cache.lostForMs = 60_000;
    expect(knowledge.of("x/a", nodeAt("12"))).toBe("complete");
    cache.isCurrent = false;
    expect(knowledge.of("x/a", nodeAt("12"))).toBe("disconnected");
  });

  it("are unknown while the cache is disconnected, or the API server has gone back to an earlier state", () => {
    const { cache, knowledge } = setUp("11");
    cache.lostForMs = 1;
    expect(knowledge.of("x/a", nodeAt("10"))).toBe("unconfirmed");
    cache.lostForMs = 10_001;
    expect(knowledge.of("x/a", nodeAt("10"))).toBe("disconnected");
    cache.lostForMs = 0;
    cache.isCurrent = false;
    expect(knowledge.of("x/a", nodeAt("10"))).toBe("disconnected");
    cache.isCurrent = true;
    expect(knowledge.of("x/a", nodeAt("10"))).toBe("complete");
  });
});
