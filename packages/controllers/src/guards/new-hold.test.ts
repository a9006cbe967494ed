import { type Machine, machineResource } from "@millwright/core/machine-api";
import { afterAll, expect, it } from "vitest";
import { decideMachine } from "../machine/decide.ts";
import { type Guard, judge } from "../model/hold.ts";
import { reportHold } from "../model/hold-condition.ts";
import { aMachine, beingDeleted, inPhase, labeled } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { aSnapshot, itsNode, testNow, withVm } from "../testing/snapshots.ts";
import { countHeld } from "./held-objects.ts";
import { machineGuards } from "./machine-guards.ts";

const stop = new AbortController();
afterAll(() => stop.abort());

/** All that a new hold needs: nothing else in the package names it. */
const maintenanceGuard: Guard<Machine> = {
  name: "maintenance",
  of: ({ metadata }) =>
    metadata.deletionTimestamp != null && metadata.labels?.["maintenance"] === "true"
      ? {
          by: "maintenance",
          holds: "deletion",
          message: "Deletion paused: the rack is being serviced. To go on, remove label maintenance",
          remedy: "To go on, remove label maintenance",
          event: { type: "Warning", reason: "Maintenance" },
          requeueAfterMs: 60_000,
          keepsPhase: true,
        }
      : "proceed",
};

it("is a guard in the list: the machine keeps its VM, and status, event, condition and metric show it", async () => {
  const machine = aMachine(withVm, inPhase("Running"), beingDeleted(), labeled({ maintenance: "true" }));
  const { api, newContext, run } = createTestCluster();
  api.seed(machineResource, machine);
  const context = newContext();
  await run(context, stop.signal);
  const guards = [
    ...machineGuards(context, { operationOf: () => undefined, holderOf: () => undefined }),
    maintenanceGuard,
  ];

  const { hold } = judge(guards, machine);
  if (hold === undefined) throw new Error("the machine is not held");
  const decision = decideMachine(aSnapshot({ machine, hold, node: itsNode() }), testNow);
  expect(decision).toMatchObject({
    actions: [],
    status: { currentStatus: { phase: "Running" }, lastOperation: { description: hold.message } },
    because: [{ type: "Warning", reason: "Maintenance", message: hold.message }],
    requeueAfterMs: 60_000,
  });

  const condition = { type: "Maintenance", status: "True", reason: "RackService" } as const;
  expect(reportHold([], { ...hold, condition }, { now: testNow })).toMatchObject({
    conditions: [{ ...condition, message: hold.message }],
    because: [{ reason: "Maintenance" }],
  });
  expect(countHeld(guards, context.caches)).toContainEqual({ by: "maintenance", kind: "Machine", count: 1 });
});
