import { annotationKeys, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { ApiError } from "@millwright/kube";
import type { FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { createDeletionBudget } from "../deletion-budget/deletion-budget.ts";
import { aMachine, aMachineSet, annotated, inPhase, named, ownedBy, testNamespace } from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { setOf, setRef } from "../testing/running-set.ts";
import { createMachineSetController } from "./controller.ts";

const approval = "deletions=12,generation=1,uid=uid-set";
const refusal = new ApiError({ status: 403, reason: "Forbidden", message: "refused" });

/** A set of twelve machines in service that is scaled to none, with the approval of that. */
const startApproved = (prepare: (api: FakeApi) => void) =>
  runControllers(
    (context) => {
      const { caches, clock } = context;
      const options = { caches, namespace: testNamespace, clock, maxDeletionShare: undefined };
      return [createMachineSetController({ ...context, deletionBudget: createDeletionBudget(options) }, 2)];
    },
    (api) => {
      const set = aMachineSet({ spec: { replicas: 0 } }, annotated({ [annotationKeys.approveDeletions]: approval }));
      api.seed(machineSetResource, set);
      for (let at = 0; at < 12; at++)
        api.seed(
          machineResource,
          aMachine(named(`m${at}`), ownedBy(set), inPhase("Running"), { spec: { providerID: `mock:///${at}` } }),
        );
      prepare(api);
    },
  );

describe("a MachineSet with an approval of its deletions", () => {
  it("deletes nothing while the use of the approval cannot be recorded, and all of it once that is recorded", async () => {
    const cluster = await startApproved((api) => {
      api.inject({ verb: "patch", type: machineSetResource, error: refusal, times: 3 });
    });
    const deleted = () => cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    await cluster.settle();
    expect(deleted()).toBe(0);
    await cluster.settle(120_000);
    expect(deleted()).toBe(12);
    expect(setOf(cluster)?.metadata.annotations?.[annotationKeys.usedApprovals]).toBe("generation=1,count=12");
    const deletion = cluster.api.calls.findIndex(({ verb }) => verb === "delete");
    const patches = cluster.api.calls.slice(0, deletion).filter(({ verb }) => verb === "patch");
    expect(patches.length).toBeGreaterThan(3);
  });

  it("deletes nothing by an approval that was used before", async () => {
    const used = { metadata: { annotations: { [annotationKeys.usedApprovals]: "generation=1,count=1" } } };
    const cluster = await startApproved((api) => void api.change(machineSetResource, setRef, used));
    await cluster.settle(60_000);
    expect(cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
  });
});
