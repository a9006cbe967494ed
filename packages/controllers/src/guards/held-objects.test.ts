import {
  annotationKeys,
  machineDeploymentResource,
  type Machine,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterAll, expect, it } from "vitest";
import type { GuardVerdict } from "../model/hold.ts";
import { aMachine, aMachineDeployment, aMachineSet, annotated, named } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { countHeld } from "./held-objects.ts";

const stop = new AbortController();
afterAll(() => stop.abort());

const hold = (by: string) => ({ by, holds: "deletion", message: `held by ${by}`, remedy: "wait" }) as const;
const since = "2026-01-01T00:00:00Z";

it("counts each object once for each kind of hold, a Machine for the first, and what is not known yet not", async () => {
  const { api, newContext, run } = createTestCluster();
  for (const name of ["both", "second", "free", "waits", "unread"]) api.seed(machineResource, aMachine(named(name)));
  const frozen = { type: "Frozen", status: "True", lastTransitionTime: since } as const;
  const held = { type: "DeletionsHeld", status: "True", lastTransitionTime: since } as const;
  const lost = { type: "CRDsEstablished", status: "False", lastTransitionTime: since } as const;
  const isSound = { type: "CRDsEstablished", status: "True", lastTransitionTime: since } as const;
  api.seed(machineSetResource, aMachineSet(named("a"), { status: { machineSetCondition: [frozen, held] } }));
  api.seed(
    machineSetResource,
    aMachineSet(named("b"), annotated({ [annotationKeys.expectedReplicas]: "3" }), {
      status: { machineSetCondition: [held, isSound] },
    }),
  );
  api.seed(machineDeploymentResource, aMachineDeployment({ status: { conditions: [lost] } }));
  const context = newContext();
  await run(context, stop.signal);
  const verdicts: Readonly<Record<string, readonly [GuardVerdict, GuardVerdict]>> = {
    both: [hold("one"), hold("two")],
    second: ["proceed", hold("two")],
    waits: ["proceed", { ...hold("two"), isUnknown: true }],
    unread: [{ read: async () => undefined }, hold("two")],
  };
  const guards = ["one", "two"].map((name, index) => ({
    name,
    of: ({ metadata }: Machine): GuardVerdict => verdicts[metadata.name]?.[index] ?? "proceed",
  }));
  const counts = countHeld(guards, context.caches);
  expect(counts.filter(({ count }) => count > 0).map(({ by, kind, count }) => `${kind} ${by} ${count}`)).toEqual([
    "Machine one 1",
    "Machine two 1",
    "MachineDeployment crd 1",
    "MachineSet freeze 1",
    "MachineSet budget 2",
    "MachineSet restore 1",
  ]);
  expect(counts.filter(({ count }) => count === 0).map(({ by, kind }) => `${kind} ${by}`)).toContain(
    "MachineDeployment protection",
  );
});
