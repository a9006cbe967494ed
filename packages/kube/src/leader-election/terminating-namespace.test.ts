import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { leaseResource } from "../objects/built-in-resources.ts";
import { namespaceTerminatingError, notFoundError } from "../testing/errors.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { joinElection } from "../testing/join-election.ts";

const leases = [
  { namespace: "ending", name: "first" },
  { namespace: "ending", name: "second" },
];

function setUp() {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  const lines: string[] = [];
  const join = (identity: string) =>
    joinElection(api, clock, identity, leases, undefined, (level, message, fields) => {
      if (level !== "warn") return;
      lines.push([identity, message, ...[fields?.["remedy"]].filter((part) => typeof part === "string")].join(": "));
    });
  /** What the namespace controller does. */
  const deleteNamespace = (): void => {
    api.inject({ verb: "create", error: namespaceTerminatingError("ending"), times: Infinity });
    for (const lease of leases) if (api.peek(leaseResource, lease) !== undefined) api.remove(leaseResource, lease);
  };
  return { clock, api, lines, join, deleteNamespace };
}

test("the last leader goes on in a terminating namespace, in which there can be no lease, and no other process leads", async () => {
  const { clock, api, lines, join, deleteNamespace } = setUp();
  const last = join("last");
  await clock.advance(0);
  const standby = join("standby");
  await clock.advance(10_000);
  deleteNamespace();
  const before = api.calls.length;
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(60_000);
    expect([last.isLeader(), standby.isLeader()]).toEqual([true, false]);
  }
  // Both together, a request every second at most.
  expect(api.calls.length - before).toBeLessThan(3_600 * 4);
  expect(lines.filter((line) => line.startsWith("last: "))).toEqual(
    leases.map(
      () => "last: The namespace is being deleted, and its lease is: this process leads until the namespace is deleted",
    ),
  );
  expect(lines.filter((line) => line.startsWith("standby: "))).toEqual([
    expect.stringMatching(/^standby: Cannot lead: the namespace is being deleted, .*--leader-elect=false/),
  ]);
  await last.stop();
  await standby.stop();
  expect(api.all(leaseResource)).toEqual([]);
});

test("a process that is restarted in a terminating namespace does not lead, and reports once what to do", async () => {
  const { clock, lines, join, deleteNamespace } = setUp();
  deleteNamespace();
  const restarted = join("restarted");
  await clock.advance(600_000);
  expect(restarted.isLeader()).toBe(false);
  expect(lines).toHaveLength(1);
  await restarted.stop();
});

test("the last leader ends when another process has the lease after all, or the namespace is gone", async () => {
  const { clock, api, join, deleteNamespace } = setUp();
  const last = join("last");
  await clock.advance(0);
  deleteNamespace();
  await clock.advance(60_000);
  // Another API server had not yet seen that the namespace terminates.
  api.seed(leaseResource, {
    metadata: { namespace: "ending", name: "first" },
    spec: { holderIdentity: "other", leaseDurationSeconds: 15, acquireTime: "a", renewTime: "a", leaseTransitions: 1 },
  });
  await clock.advance(6_000);
  expect(last.state.ended).toBe("other holds the lease");
  await clock.advance(15_000);
  await last.running;

  const [second, gone] = [setUp(), notFoundError("ending")];
  const lone = second.join("lone");
  await second.clock.advance(0);
  for (const lease of leases) second.api.remove(leaseResource, lease);
  second.api.inject({ verb: "create", error: gone, times: Infinity });
  await second.clock.advance(15_000);
  expect(lone.isLeader()).toBe(false);
  await lone.running;
});
