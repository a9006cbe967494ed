import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { expect, onTestFinished, test } from "vitest";
import type { CrdGuard } from "../model/crd-guard.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { aMachine, aMachineClass, beingDeleted, inPhase, refOf } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { createMachineController } from "./controller.ts";
import { fixed } from "../model/live.ts";

/** The phase of a machine that is being deleted after it was handed over, with that verdict about its deletion. */
async function phaseAfter(verdict: "proceed" | "unknown"): Promise<string | undefined> {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineClassResource, aMachineClass());
  api.seed(machineResource, aMachine(inPhase("Running"), beingDeleted()));
  const crd = { name: "machines.machine.sapcloud.io", state: "unknown" } as const;
  const crdGuard: CrdGuard = {
    stateOf: () => crd,
    onChange: () => undefined,
    synced: async () => undefined,
    hasSynced: () => true,
    run: async () => undefined,
    deletionVerdictOf: () => ({ verdict }),
    refresh: async () => undefined,
    recordDeletion: () => undefined,
    forgetDeletion: () => undefined,
  };
  const context = { ...newContext(), crdGuard };
  const options = { driver: createFakeDriver(), settings: fixed(defaultMachineSettings), workers: 1 };
  const machines = createMachineController(context, options);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  await machines.handOver();
  return api.peek<Machine>(machineResource, refOf("machine"))?.status?.currentStatus?.phase;
}

test("a machine is handed over as Terminating", async () => {
  expect(await phaseAfter("proceed")).toBe("Terminating");
});

test("a machine whose CRD may be deleted is handed over as it is: for the next process its deletion has not started", async () => {
  expect(await phaseAfter("unknown")).toBe("Running");
});
