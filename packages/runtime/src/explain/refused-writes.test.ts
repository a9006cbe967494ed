import { ApiError, eventResource, type KubeObject } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { readListFailures, readRefusedWrites } from "../describe/read-refused-writes.ts";
import { aDeployment, aMachine, aSet, failed, now, objectsOf, pool } from "../testing/explained-objects.ts";
import type { RefusedWrite } from "./cluster-objects.ts";
import { why } from "./explain.ts";

const message = "Failed to patch status of Machine a: 403 Forbidden: denied";
const lastAt = "2026-01-01T00:09:59Z";
const refused: RefusedWrite = { kind: "Machine", name: "a", message, lastAt };
const machine = { kind: "Machine", name: "a" } as const;
const quota = failed(
  "ResourceExhausted",
  "quota",
  " (attempt 4 failed at 2026-01-01T00:09:00Z; the next after 3m0s or more)",
);

const explained = async (subject: typeof machine | typeof pool, found: readonly RefusedWrite[], status: object = {}) =>
  why(
    subject,
    objectsOf({
      machines: [aMachine("a", "CrashLoopBackOff", { ...quota, ...status }), aMachine("b", "CrashLoopBackOff", quota)],
      sets: [aSet([], 0)],
      deployments: [aDeployment({ readyReplicas: 0 })],
      nodes: [],
      readRefusedWrites: async () => found,
    }),
    now,
  );

it("are the first cause of a machine, with a remedy and without times that cannot come", async () => {
  expect((await explained(machine, [])).explanation).toMatchObject({ deadline: {}, next: expect.any(String) });
  const { explanation, remedies } = await explained(machine, [refused]);
  expect(explanation).toMatchObject({ state: "stuck", causes: [{ reason: "WriteRefused", message }, {}] });
  expect([explanation.deadline, explanation.next, explanation.attempts?.nextAt]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(remedies[0]?.text).toContain("Change the webhook, policy, quota or role");
});

it("take a machine out of those that are in the same state", async () => {
  const names = async (found: readonly RefusedWrite[]) =>
    (await explained(pool, found)).explanation.children[0]?.children.map(({ name, others }) => [name, ...others]);
  expect(await names([])).toEqual([["a", "b"]]);
  expect(await names([refused])).toEqual([["a"], ["b"]]);
});

it("are shown of a Running machine, and of all that has it, but not of a deployment whose status is up to date", async () => {
  const deployment = { ...refused, kind: "MachineDeployment", name: "pool" };
  const of = async (found: RefusedWrite) =>
    (await why(pool, objectsOf({ readRefusedWrites: async () => [found] }), now)).explanation.state;
  expect([await of(refused), await of(deployment)]).toEqual(["stuck", "ok"]);
});

it("are over once the machine was written, and named once where its last operation has them", async () => {
  const reasons = async (lastOperation: object) =>
    (await explained(machine, [refused], { lastOperation })).explanation.causes.map((cause) => cause.message);
  expect(await reasons({ type: "Create", state: "Processing", lastUpdateTime: lastAt })).not.toContain(message);
  const own = { type: "Create", state: "Failed", description: message, lastUpdateTime: "2026-01-01T00:09:00Z" };
  expect(await reasons(own)).toEqual([message]);
});

it("are read from recent events, the last first; from none where these may not be listed", async () => {
  const control = createFakeApi();
  const seed = (name: string, lastTimestamp: string, reason = "WriteRefused"): void => {
    const metadata = { namespace: "default", name };
    control.seed<never>(eventResource, {
      metadata,
      involvedObject: machine,
      reason,
      message: name,
      lastTimestamp,
    } as never);
  };
  seed("old", "2026-01-01T00:07:00Z");
  seed("first", "2026-01-01T00:08:00Z");
  seed("last", lastAt);
  const read = () => readRefusedWrites(control, "default", now);
  expect((await read()).map((each) => each.message)).toEqual(["last", "first"]);
  control.inject({ verb: "list", error: new ApiError({ status: 403, reason: "Forbidden", message: "no" }) });
  expect(await read()).toEqual([]);
  control.inject({ verb: "list", error: serverError() });
  await expect(read()).rejects.toThrow(serverError().message);
});

it("of lists that fail make their class wait, until one succeeds or its last event is older than the next would be", async () => {
  const api = createFakeApi();
  const event = (name: string, minutes: number, reason = "FailedListVMs", of = "small") =>
    void api.seed<KubeObject>(eventResource, {
      metadata: { namespace: "default", name },
      involvedObject: { kind: "MachineClass", name: of },
      reason,
      message: "Failed to list the VMs of the class: PermissionDenied: no",
      lastTimestamp: new Date(now.getTime() - minutes * 60_000).toISOString(),
    });
  const of = async () => {
    const objects = objectsOf({ readListFailures: async (at) => readListFailures(api, "default", at) });
    return (await why({ kind: "MachineClass", name: "small" }, objects, now)).explanation;
  };
  event("old", 50);
  expect(await of()).toMatchObject({ state: "ok", causes: [] });
  event("recent", 40);
  expect(await of()).toMatchObject({
    state: "waiting",
    causes: [{ reason: "FailedListVMs", message: "Failed to list the VMs of the class: PermissionDenied: no" }],
  });
  event("listed-before", 41, "ListedVMs");
  event("other-listed", 10, "ListedVMs", "other");
  expect(await of()).toMatchObject({ state: "waiting" });
  event("listed", 20, "ListedVMs");
  expect(await of()).toMatchObject({ state: "ok", causes: [] });
  event("again", 10);
  expect(await of()).toMatchObject({ state: "waiting" });
});
