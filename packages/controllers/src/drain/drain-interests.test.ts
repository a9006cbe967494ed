import { describe, expect, it } from "vitest";
import { aPod } from "../testing/drain-objects.ts";
import { aDrainView, aMove, volumesFor } from "../testing/drain-views.ts";
import { createDrainInterests } from "./drain-interests.ts";

function setUp() {
  const interests = createDrainInterests();
  interests.note("x/a", aDrainView({ pods: [aPod("db")], volumes: volumesFor("db") }));
  interests.note(
    "x/b",
    aDrainView({ pods: [aPod("s", { metadata: { namespace: "shop" } })], record: { moves: [aMove("gone")] } }),
  );
  return interests;
}

describe("what drains look at", () => {
  it("are the namespaces of their pods, whose budgets count", () => {
    const interests = setUp();
    expect([...interests.inNamespace("default")]).toEqual(["x/a"]);
    expect([...interests.inNamespace("shop")]).toEqual(["x/b"]);
    expect([...interests.inNamespace("other")]).toEqual([]);
  });

  it("are volumes and claims of pods on the node, and of those that have left it", () => {
    const interests = setUp();
    expect([...interests.ofVolume("pv-db"), ...interests.ofClaim("default/data-db")]).toEqual(["x/a", "x/a"]);
    expect([...interests.ofVolume("pv-gone"), ...interests.ofClaim("default/data-gone")]).toEqual(["x/b", "x/b"]);
  });

  it("are removed when the drain is over", () => {
    const interests = setUp();
    interests.note("x/a", undefined);
    expect([...interests.inNamespace("default"), ...interests.ofVolume("pv-db")]).toEqual([]);
  });
});
