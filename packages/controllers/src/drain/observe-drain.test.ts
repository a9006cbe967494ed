import { describe, expect, it } from "vitest";
import type { Pod } from "../model/node-objects.ts";
import { aMachine, annotated, aNode } from "../testing/builders.ts";
import { aBudget, aClaim, anAttachment, aPod, aPodWithVolume, aVolume } from "../testing/drain-objects.ts";
import { aMove } from "../testing/drain-views.ts";
import { type DrainSources, observeDrain } from "./observe-drain.ts";

const db = aPodWithVolume("db");
const successor = aPodWithVolume("db", { metadata: { uid: "uid-db-2" }, spec: { nodeName: "other" } });

const sources = (change: Partial<DrainSources> = {}): DrainSources => ({
  podsOn: (node) => (node === "node" ? [db, aPod("web", { metadata: { namespace: "shop" } })] : []),
  budgetsIn: (namespace) => (namespace === "default" ? [aBudget()] : []),
  claim: (_, name) => aClaim(name, name.replace("data-", "pv-")),
  volume: aVolume,
  volumeId: () => undefined,
  attachmentsOf: () => [],
  podsWithClaim: () => [],
  eviction: () => undefined,
  ...change,
});

describe("observeDrain", () => {
  it("reads pods, their volumes, and the budgets of their namespaces", () => {
    const rules = [{ behavior: "Skip", order: 0 }] as const;
    const view = observeDrain(aNode(), undefined, rules, sources());
    expect(view.pods.map(({ metadata }) => metadata.name)).toEqual(["db", "web"]);
    expect(view.volumes.get("uid-db")).toMatchObject([{ name: "pv-db", volumeId: "vol-pv-db" }]);
    expect(view.volumes.get("uid-web")).toEqual([]);
    expect(view.budgets).toHaveLength(1);
    expect(view.rules).toBe(rules);
    expect(view.record).toEqual({ moves: [] });
  });

  it("knows which volume ids were not requested from the driver, and until when to wait for them", () => {
    const observed = (until: number | undefined) => {
      const { unknownVolumes, volumeIdsUntil } = observeDrain(
        aNode(),
        undefined,
        [],
        sources({ volumeIdUntil: () => until }),
      );
      return { unknownVolumes, volumeIdsUntil };
    };
    expect(observed(undefined)).toEqual({ unknownVolumes: ["pv-db"], volumeIdsUntil: 0 });
    expect(observed(77)).toEqual({ unknownVolumes: [], volumeIdsUntil: 77 });
    expect(observeDrain(aNode(), undefined, [], sources())).toMatchObject({ unknownVolumes: [], volumeIdsUntil: 0 });
  });

  it("knows where the volumes of its pods are, and of those that have left", () => {
    const moves = [aMove("gone")];
    const machine = aMachine(annotated({ "machine.millwright.dev/drain-state": JSON.stringify({ moves }) }));
    const attachmentsOf = (name: string) => [anAttachment(name, name === "pv-gone" ? "other" : "node")];
    const view = observeDrain(aNode(), machine, [], sources({ attachmentsOf }));
    expect(view.record).toEqual({ moves });
    expect(view.attached.attachedHere).toEqual(new Set(["pv-db"]));
    expect(view.attached.attachedElsewhere).toEqual(new Set(["pv-gone"]));
  });

  it.each([
    ["a pod elsewhere uses it", [db, successor], true],
    ["only the pod itself does", [db], false],
    ["the other pod is over", [{ ...successor, status: { phase: "Failed" } }], false],
  ])("treats a claim as wanted when %s", (_, users, expected) => {
    const pods = users.map((pod) => ({ ...pod, spec: { ...pod.spec } }));
    const view = observeDrain(aNode(), undefined, [], sources({ podsWithClaim: () => pods }));
    expect(view.attached.wantedClaims.has("default/data-db")).toBe(expected);
  });

  it("counts a successor that has no node yet", () => {
    const pending = { ...successor, spec: { volumes: successor.spec?.volumes ?? [] } };
    const view = observeDrain(aNode(), undefined, [], sources({ podsWithClaim: () => [db, pending] }));
    expect(view.attached.wantedClaims.has("default/data-db")).toBe(true);
  });

  const at = (spec: Pod["spec"], reason?: string, metadata = {}): Pod => ({
    metadata: { ...successor.metadata, ...metadata },
    spec: { volumes: successor.spec?.volumes ?? [], ...spec },
    status: {
      phase: "Pending",
      ...(reason === undefined ? {} : { conditions: [{ type: "PodScheduled", status: "False", reason }] }),
    },
  });
  it.each<[string, readonly Pod[], "wanted" | "unplaced" | "neither"]>([
    ["by a pod that fits on no node", [at({}, "Unschedulable")], "unplaced"],
    ["by a pod that may not be scheduled yet", [at({}, "SchedulingGated")], "wanted"],
    ["by a pod that got a node since", [at({ nodeName: "other" }, "Unschedulable")], "wanted"],
    ["by one that fits nowhere and one that does", [at({}, "Unschedulable"), at({ nodeName: "other" })], "wanted"],
    [
      "by a pod deleted before it had a node",
      [at({}, undefined, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
      "neither",
    ],
    ["by none, as after the StatefulSet was deleted or scaled to 0", [], "neither"],
  ])("distinguishes unschedulable pods that wait for a volume: wanted %s", (_, pods, expected) => {
    const view = observeDrain(aNode(), undefined, [], sources({ podsWithClaim: () => [db, ...pods] }));
    expect([...view.attached.wantedClaims].length === 1).toBe(expected === "wanted");
    expect([...view.attached.unplacedClaims].length === 1).toBe(expected === "unplaced");
  });

  it("reads the state of its evictions", () => {
    const eviction = (uid: string) => (uid === "uid-db" ? ({ state: "accepted" } as const) : undefined);
    expect(observeDrain(aNode(), undefined, [], sources({ eviction })).evictions).toEqual(
      new Map([["uid-db", { state: "accepted" }]]),
    );
  });
});
