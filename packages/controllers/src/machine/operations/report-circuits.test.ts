import { machineClassResource } from "@millwright/core/machine-api";
import type { ApiObject, EventRecord } from "@millwright/kube";
import { afterAll, expect, it } from "vitest";
import { aMachineClass, named, testNamespace } from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { reportCircuits } from "./report-circuits.ts";

const stop = new AbortController();
afterAll(() => stop.abort());

it("a circuit is reported on the classes whose calls are held back, and no others", async () => {
  const { api, newContext, run } = createTestCluster();
  const secretRef = { name: "cloud", namespace: testNamespace };
  for (const name of ["a", "b"]) api.seed(machineClassResource, aMachineClass(named(name), { secretRef }));
  api.seed(machineClassResource, aMachineClass(named("c"), { secretRef, provider: "other" }));
  api.seed(machineClassResource, aMachineClass(named("d")));
  const context = newContext();
  await run(context, stop.signal);
  const events: string[] = [];
  const record = ({ metadata }: ApiObject, { type, reason }: EventRecord): void =>
    void events.push(`${metadata.name} ${type} ${reason}`);
  const report = reportCircuits({ ...context, events: { ...context.events, record } });
  const circuit = { driver: "mock", secret: "cloud", code: "Unauthenticated", message: "no", since: 0 } as const;
  report.opened(circuit);
  report.closed({ ...circuit, machineClass: "b" });
  report.opened({ ...circuit, machineClass: "a", code: "Unavailable" });
  report.closed({ ...circuit, machineClass: "a", code: "ResourceExhausted" });
  expect(events.toSorted()).toEqual([
    "a Normal CloudAvailable",
    "a Warning CloudUnavailable",
    "a Warning CredentialRefused",
    "b Normal CredentialAccepted",
    "b Warning CredentialRefused",
  ]);
});
