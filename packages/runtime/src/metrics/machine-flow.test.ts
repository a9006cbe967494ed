import { joined, type Machine, markerOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { flowFacts } from "./machine-flow.ts";

const now = new Date("2026-01-01T00:10:00Z");
const metadata: Machine["metadata"] = {
  name: "pool-1",
  namespace: "shoot",
  uid: "u1",
  creationTimestamp: "2026-01-01T00:00:00Z",
};
const leaving = { ...metadata, deletionTimestamp: "2026-01-01T00:08:00Z" };

interface State {
  readonly phase?: string;
  readonly type?: string;
  readonly state?: string;
  readonly description?: string;
  readonly providerID?: string;
}
function aMachine({ phase = "", type, state, description, providerID }: State, meta = metadata): Machine {
  const lastOperation = {
    ...(type === undefined ? {} : { type }),
    ...(state === undefined ? {} : { state }),
    ...(description === undefined ? {} : { description }),
  };
  return {
    metadata: meta,
    spec: providerID === undefined ? {} : { providerID },
    status: { currentStatus: { phase }, lastOperation },
  };
}
const creating: State = { phase: "Pending", type: "Create", state: "Processing" };
const joinedNow: State = { phase: "Running", type: "Create", state: "Successful", description: joined("pool-1", 1) };
const unhealthy: State = { phase: "Failed", type: "HealthCheck", state: "Failed" };
const back: State = { phase: "Running", type: "HealthCheck", state: "Successful" };
const updated: State = { phase: "InPlaceUpdateSuccessful", type: "InPlaceUpdate", state: "Successful" };
const stage = (marker: Parameters<typeof markerOf>[0]): State => ({
  phase: "Terminating",
  type: "Delete",
  state: "Processing",
  description: markerOf(marker),
});

describe("what happened to a machine", () => {
  it.each<[string, Machine | undefined, Machine | undefined, readonly object[]]>([
    [
      "the id of its VM came",
      aMachine({}),
      aMachine({ providerID: "a" }),
      [{ fact: "took", step: "create", ms: 600_000 }],
    ],
    ["its id changed", aMachine({ providerID: "a" }), aMachine({ providerID: "b" }), []],
    ["it joined", aMachine(creating), aMachine(joinedNow), [{ fact: "took", step: "join", ms: 600_000 }]],
    [
      "the id and the join were seen at once",
      aMachine({}),
      aMachine({ ...joinedNow, providerID: "a" }),
      [
        { fact: "took", step: "create", ms: 600_000 },
        { fact: "took", step: "join", ms: 600_000 },
      ],
    ],
    ["it stayed Running", aMachine(joinedNow), aMachine(joinedNow), []],
    ["it came back", aMachine({ phase: "Unknown" }), aMachine(back), []],
    [
      "it did not join in time",
      aMachine(creating),
      aMachine({ phase: "Failed", type: "Create" }),
      [{ fact: "failedToJoin" }],
    ],
    ["it failed for another reason", aMachine({ phase: "Running" }), aMachine({ phase: "Failed", type: "Create" }), []],
    ["a sick one was asked to go", aMachine(unhealthy), aMachine(unhealthy, leaving), [{ fact: "stale" }]],
    ["a sick one goes on leaving", aMachine(unhealthy, leaving), aMachine(unhealthy, leaving), []],
    [
      "one that never joined was asked to go",
      aMachine({ phase: "Failed", type: "Create" }),
      aMachine({ phase: "Failed", type: "Create" }, leaving),
      [],
    ],
    ["a healthy one was asked to go", aMachine(joinedNow), aMachine(joinedNow, leaving), []],
    [
      "its drain began",
      aMachine(stage("GetVmStatus"), leaving),
      aMachine(stage("Drain"), leaving),
      [{ fact: "drainBegan" }],
    ],
    ["its drain goes on", aMachine(stage("Drain"), leaving), aMachine(stage("Drain"), leaving), []],
    [
      "its drain ended",
      aMachine(stage("Drain"), leaving),
      aMachine(stage("DeleteVm"), leaving),
      [{ fact: "drainEnded" }],
    ],
    [
      "its drain began and ended in one pass",
      aMachine(joinedNow, leaving),
      aMachine({ ...stage("DeleteVm"), description: `Force Drain successful. ${markerOf("DeleteVm")}` }, leaving),
      [{ fact: "took", step: "drain", ms: 0 }],
    ],
    ["it has no node to drain", aMachine({}, leaving), aMachine(stage("DeleteVm"), leaving), []],
    [
      "it goes on after its drain",
      aMachine({ ...stage("DeleteVm"), description: `Drain successful. ${markerOf("DeleteVm")}` }, leaving),
      aMachine({ ...stage("DeleteNode"), description: `Drain successful. ${markerOf("DeleteNode")}` }, leaving),
      [],
    ],
    [
      "its drain starts again, for its marker is lost",
      aMachine(stage("Drain"), leaving),
      aMachine({ ...stage("Drain"), description: "?" }, leaving),
      [],
    ],
    ["it was updated in place and is back", aMachine(updated), aMachine(back), []],
    ["it is gone", aMachine({}, leaving), undefined, [{ fact: "took", step: "delete", ms: 120_000 }]],
    [
      "it is gone before its deletion was in its status: its node was empty",
      aMachine(joinedNow, { ...leaving, labels: { node: "node-1" } }),
      undefined,
      [
        { fact: "took", step: "drain", ms: 0 },
        { fact: "took", step: "delete", ms: 120_000 },
      ],
    ],
    [
      "it is gone and had no node",
      aMachine(joinedNow, leaving),
      undefined,
      [{ fact: "took", step: "delete", ms: 120_000 }],
    ],
    [
      "it is gone, and another has its name",
      aMachine({}, leaving),
      aMachine({}, { ...metadata, uid: "u2" }),
      [{ fact: "took", step: "delete", ms: 120_000 }],
    ],
    ["it vanished without a deletion", aMachine({}), undefined, []],
    ["it is new, or this process is", undefined, aMachine({ ...joinedNow, providerID: "a" }), []],
    ["nothing was there and nothing is", undefined, undefined, []],
    [
      "the clock of the API server is ahead",
      aMachine({}, { ...metadata, creationTimestamp: "2026-01-01T00:11:00Z" }),
      aMachine({ providerID: "a" }, { ...metadata, creationTimestamp: "2026-01-01T00:11:00Z" }),
      [{ fact: "took", step: "create", ms: 0 }],
    ],
    [
      "its creation time is invalid",
      aMachine({}, { ...metadata, creationTimestamp: "yesterday" }),
      aMachine({ providerID: "a" }, { ...metadata, creationTimestamp: "yesterday" }),
      [{ fact: "took", step: "create", ms: 0 }],
    ],
  ])("%s", (_, before, after, facts) => {
    expect(flowFacts(before, after, now)).toEqual(facts);
  });
});
