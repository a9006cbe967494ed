import { type MachineDeployment, readMachineDeployment } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aDeployment, aMachine, must, now, objectsOf, pool } from "../testing/explained-objects.ts";
import type { Leaders } from "./cluster-objects.ts";
import { why } from "./explain.ts";

const of = (observedGeneration: number, creationTimestamp: string): MachineDeployment => {
  const deployment = aDeployment({ observedGeneration, readyReplicas: 1 });
  return must(
    readMachineDeployment({
      ...deployment,
      metadata: { ...deployment.metadata, generation: 2, creationTimestamp },
    }),
  );
};
const old = "2026-01-01T00:05:00Z";
const text = "Lease a does not exist.";
const unseen =
  "No controller has seen generation 2 of MachineDeployment pool. Lease a does not exist. Controllers lead namespace b.";

it.each<[string, Leaders["leads"] | "unreadable", MachineDeployment, string | undefined]>([
  ["no process leads, and the spec was not seen", false, of(1, old), unseen],
  [
    "no process leads, and the spec was seen",
    false,
    of(2, old),
    `No controller manages namespace default. ${text} Controllers lead namespace b.`,
  ],
  ["there is no Lease, and the spec was not seen", "unknown", of(1, old), unseen],
  ["there is no Lease, and the spec is new", "unknown", of(1, "2026-01-01T00:09:30Z"), undefined],
  ["there is no Lease, and the spec was seen", "unknown", of(2, old), undefined],
  ["controllers lead", true, of(1, old), undefined],
  ["Leases may not be read", "unreadable", of(1, old), undefined],
])("names that no controller runs, or not, where %s", async (_, leads, deployment, message) => {
  const readLeaders = async () =>
    leads === "unreadable" ? undefined : { leads, text, elsewhere: " Controllers lead namespace b." };
  const { explanation, remedies } = await why(pool, objectsOf({ deployments: [deployment], readLeaders }), now);
  expect(explanation.state).toBe(message === undefined ? "waiting" : "stuck");
  const cause = explanation.causes.find(({ reason }) => reason === "NoController");
  expect(cause?.message).toBe(message);
  expect(remedies.some(({ commands }) => commands.includes("kubectl get pods,leases -A"))).toBe(message !== undefined);
});

it.each<[string, Leaders["leads"] | undefined, string, number]>([
  ["is led", true, "waiting", 0],
  ["may be led by a process without Lease", "unknown", "waiting", 1],
  ["may be led, as its Leases may not be read", undefined, "waiting", 1],
  ["no process leads", false, "stuck", 1],
])("names first that a namespace is being deleted which %s", async (_, leads, state, commands) => {
  const readLeaders = async () => (leads === undefined ? undefined : { leads, text, elsewhere: "" });
  const readNamespaceDeletion = async () => old;
  const objects = objectsOf({ deployments: [of(1, old)], readLeaders, readNamespaceDeletion });
  const { explanation, remedies } = await why(pool, objects, now);
  expect(explanation.state).toBe(state);
  expect(explanation.causes[0]).toMatchObject({ reason: "NamespaceTerminating", since: old });
  expect(remedies.filter((remedy) => remedy.commands.includes("kubectl get namespace default -o yaml"))).toHaveLength(
    commands,
  );
});

it("promises nothing that only a running controller does", async () => {
  const failed = {
    type: "Create",
    state: "Failed",
    errorCode: "ResourceExhausted",
    description:
      "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [no] (attempt 4 failed at 2026-01-01T00:09:00Z, the first at 2026-01-01T00:01:00Z; the next after 3m0s or more)",
  };
  const machines = [aMachine("a", "CrashLoopBackOff", { lastOperation: failed })];
  const subject = { kind: "Machine", name: "a" } as const;
  const led = await why(subject, objectsOf({ machines, nodes: [] }), now);
  expect(led.explanation).toMatchObject({
    deadline: {},
    next: expect.any(String),
    attempts: { nextAt: expect.any(String) },
  });
  const readLeaders = async () => ({ leads: false, text, elsewhere: "" });
  const { explanation } = await why(subject, objectsOf({ machines, nodes: [], readLeaders }), now);
  expect(explanation.attempts).toEqual({ count: 4, firstAt: "2026-01-01T00:01:00Z", lastAt: "2026-01-01T00:09:00Z" });
  expect([explanation.deadline, explanation.next]).toEqual([undefined, undefined]);
});

it("is silent about an object that is as desired", async () => {
  const readLeaders = async () => ({ leads: false, text, elsewhere: "" });
  expect((await why(pool, objectsOf({ readLeaders }), now)).explanation.state).toBe("ok");
});
