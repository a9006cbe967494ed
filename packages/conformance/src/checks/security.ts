import { isIP } from "node:net";
import { hasMachineErrorCode } from "@millwright/core";
import { type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { errorAnswer, rejected, whileApiFails } from "./errors.ts";

const concurrentCalls = 20;

const isLinkLocal = (host: string): boolean =>
  host.startsWith("169.254.") ||
  /^fe[89ab][0-9a-f]:/i.test(host) ||
  /^fd00:ec2::254$/i.test(host) ||
  host === "metadata.google.internal";

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** Checks of credentials and connections. */
export const securityChecks = {
  "secrets.not-mixed": async (t) => {
    const values = t.needs(t.fixture.rejectedSecret, "credentials that the cloud rejects");
    const secret = t.session.protect({ userData: t.session.userData.reveal(), ...values });
    const rejected = t.caller.with({ secret });
    const outcomes = await Promise.all(
      Array.from({ length: concurrentCalls }, async (_, index) => {
        const isRejected = index % 2 === 1;
        return { isRejected, outcome: await outcomeOf((isRejected ? rejected : t.caller).status(t.machine())) };
      }),
    );
    for (const { isRejected, outcome } of outcomes) {
      expect(!outcome.ok, "getMachineStatus of a machine without VM succeeds.");
      const codes = isRejected ? (["Unauthenticated", "PermissionDenied"] as const) : (["NotFound"] as const);
      expect(
        hasMachineErrorCode(outcome.error, ...codes),
        `A call with ${isRejected ? "rejected" : "valid"} credentials, concurrent with others, fails with ${describeError(outcome.error)}`,
      );
    }
  },

  "secrets.rotation": async (t) => {
    const rotate = t.needs(t.fixture.rotateSecret, "a way to replace credentials");
    const machine = t.machine();
    const former = t.caller;
    await former.create(machine);
    const secret = t.session.protect({ userData: t.session.userData.reveal(), ...(await rotate()) });
    t.session.caller = former.with({ secret });
    const found = await outcomeOf(t.session.caller.status(machine));
    expect(found.ok, `With the new credentials, the call fails with ${found.ok ? "" : describeError(found.error)}`);
    const stale = former.status(machine);
    await expectFailure("A call with the former credentials", stale, "Unauthenticated", "PermissionDenied");
    await t.session.caller.remove(machine);
  },

  "secrets.expired-token": async (t) => {
    const machine = t.machine();
    const { caller, proxy } = await t.behindProxy();
    await caller.create(machine);
    await caller.status(machine);
    proxy.plan(whileApiFails(t, errorAnswer(t, 401)));
    await expectFailure("A call whose credentials are rejected", caller.status(machine), ...rejected);
    proxy.plan();
    const next = await outcomeOf(caller.status(machine));
    expect(next.ok, `After a rejection, the next call fails with ${next.ok ? "" : describeError(next.error)}`);
    const expire = t.fixture.stage?.expireTokens;
    if (expire === undefined) return;
    await expire();
    const first = await outcomeOf(caller.status(machine));
    if (!first.ok) await expectFailure("A call with an expired token", Promise.reject(first.error), ...rejected);
    const second = await outcomeOf(caller.status(machine));
    // The token of the other instance has expired as well.
    await outcomeOf(t.caller.status(machine));
    const problem = second.ok ? "" : describeError(second.error);
    expect(second.ok, `After its token has expired, the second call fails with ${problem}`);
  },

  "network.declared-hosts-only": async ({ session }) => {
    const { connections, allowedHosts } = session;
    const hosts = [...new Set(connections)];
    const local = hosts.filter((host) => isLinkLocal(host) && allowedHosts?.has(host) !== true);
    expect(local.length === 0, `The driver connects to the link-local address ${local.join(", ")}.`);
    if (allowedHosts === undefined) return;
    const allowsLoopback = [...allowedHosts].some(isLoopback);
    const other = hosts.filter((host) => !allowedHosts.has(host) && !(allowsLoopback && isLoopback(host)));
    expect(other.length === 0, `The driver connects to ${other.join(", ")}, which the fixture does not declare.`);
  },
} as const satisfies CheckTable;
