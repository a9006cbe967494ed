import { systemClock } from "@millwright/base";
import type { Driver } from "@millwright/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { sweepLeftovers } from "./checks/sweep.ts";
import { reachedLevel } from "./report/level.ts";
import { isPassed } from "./report/report.ts";
import { contractRules } from "./rules/registry.ts";
import { areaOf } from "./rules/registry.ts";
import { runConformance, selectRules } from "./run-conformance.ts";
import type { FixtureSetup } from "./session/fixture.ts";
import { runStartOf } from "./session/run-id.ts";
import { openSession } from "./session/session.ts";
import { toyFixture } from "./testing/toy-fixture.ts";
import type { ToySteps } from "./testing/toy-steps.ts";

const hourMs = 3_600_000;

describe("a run", () => {
  it("checks the rules that are named, in the order of the contract", async () => {
    const { results, isComplete, leftovers } = await runConformance({
      fixture: toyFixture(),
      only: ["delete.repeat-succeeds", "spec"],
    });
    const expected = contractRules.filter((rule) => areaOf(rule) === "spec").map(({ id }) => id);
    expect(results.map(({ rule, status }) => `${rule.id} ${status}`)).toEqual(
      [...expected, "delete.repeat-succeeds"].map((id) => `${id} passed`),
    );
    expect([isComplete, leftovers]).toEqual([false, []]);
  });

  it("skips what the fixture does not provide, which blocks the level", async () => {
    const fixture = async () => {
      const { stage: _, ...rest } = await toyFixture()();
      return rest;
    };
    const only = ["status.two-vms-fail"];
    const { results } = await runConformance({ fixture, only });
    expect(results[0]).toMatchObject({ status: "skipped", reason: expect.stringContaining("second VM") });
    expect(reachedLevel(results).level).toBe("none");
  });

  it("exempts a rule whose property the cloud lacks", async () => {
    const fixture = async () => ({ ...(await toyFixture()()), lacks: { duplicateVms: "names are unique" } });
    const { results } = await runConformance({ fixture, only: ["status.two-vms-fail"] });
    expect(results[0]).toMatchObject({
      status: "notApplicable",
      reason: "The cloud lacks duplicateVms: names are unique",
    });
  });

  it("creates VMs of several pages through the driver, if the fixture names the size of a page", async () => {
    const listOf = async (longest: number) => {
      const change = {
        steps: (right: ToySteps) => ({
          list: async (...args: Parameters<ToySteps["list"]>) => (await right.list(...args)).slice(0, longest),
        }),
      };
      const { stage: _, ...rest } = await toyFixture(change)();
      const { results, leftovers } = await runConformance({ fixture: { ...rest, pageSize: 10 }, only: ["list.pages"] });
      return { status: results[0]?.status, reason: results[0]?.reason, leftovers };
    };
    expect(await listOf(100)).toMatchObject({ status: "passed", leftovers: [] });
    expect(await listOf(20)).toMatchObject({
      status: "failed",
      reason: "After 21 VMs were created, the list has 20 more.",
    });
  });

  it("reports what is left", async () => {
    const fixture = async () => {
      const setup = await toyFixture()();
      let looks = 0;
      return { ...setup, resources: () => (++looks > 1 ? ["disk-of-the-run"] : []) };
    };
    expect((await runConformance({ fixture, only: ["spec.pure"] })).leftovers).toEqual(["disk-of-the-run"]);
  });

  it("rejects unknown rules, and classes that the driver rejects", async () => {
    await expect(runConformance({ fixture: toyFixture(), only: ["create.nothing"] })).rejects.toThrow(
      'there is no rule "create.nothing"; there are create.vm-is-found, ',
    );
    expect(() => selectRules(["creat"])).toThrow('there is no rule "creat"; did you mean create?');
    expect(() => selectRules(["create.vm-is-fund"])).toThrow("did you mean create.vm-is-found?");
    expect(() => selectRules(["nothing"])).toThrow("rules begin with driver, spec, ");
    const machineClass = { providerSpec: {} };
    await expect(runConformance({ fixture: toyFixture(), machineClass })).rejects.toThrow(
      "the driver rejects the class",
    );
    await expect(runConformance({})).rejects.toThrow("there is no driver");
  });

  it("deletes leftovers of runs that ended long ago, and no other VMs", async () => {
    const session = await openSession({ fixture: toyFixture() });
    try {
      const startedMs = runStartOf(session.namePrefix) ?? 0;
      expect(Math.abs(startedMs - systemClock.now().getTime())).toBeLessThan(hourMs);
      const old = `mwc-${Math.floor((startedMs - 5 * hourMs) / 1_000).toString(36)}-ab12`;
      for (const name of [`${old}-1`, `${session.namePrefix}-1`, "pool-mwc-1"])
        await session.caller.create({ name, namespace: "conformance", uid: `uid-of-${name}` });
      const { deleted, failed } = await sweepLeftovers(session, startedMs - 2 * hourMs);
      expect([deleted.length, failed]).toEqual([1, []]);
      const names = (await session.caller.list()).map(({ machineName }) => machineName);
      expect(names.toSorted()).toEqual([`${session.namePrefix}-1`, "pool-mwc-1"]);
    } finally {
      await session.close();
    }
  });
});

describe("a run in a sandbox", () => {
  /** A cloud that several runs share. */
  const sharedCloud = async (more: (setup: FixtureSetup) => Partial<FixtureSetup> = () => ({})) => {
    const { close, ...setup } = await toyFixture()();
    onTestFinished(() => close?.());
    return { ...setup, ...more(setup) };
  };
  /** The right driver with another method. */
  const driverWith = (setup: FixtureSetup, change: (right: Driver) => Partial<Driver>): Partial<FixtureSetup> => {
    if (setup.driver === undefined) throw new Error("the fixture has no driver");
    const driver = { ...setup.driver, ...change(setup.driver) };
    return { driver, createDriver: () => driver };
  };

  it("has few VMs at once, stages none, and leaves nothing", async () => {
    let most = 0;
    const fixture = await sharedCloud((setup) =>
      driverWith(setup, (right) => ({
        async createMachine(request, context) {
          const reply = await right.createMachine(request, context);
          most = Math.max(most, (await setup.inventory?.())?.length ?? 0);
          return reply;
        },
      })),
    );
    const only = ["create", "delete.repeat-succeeds", "list.pages", "errors", "run"];
    const report = await runConformance({ fixture, only, profile: "sandbox" });
    const statusOf = (id: string) => report.results.find(({ rule }) => rule.id === id)?.status;
    expect([isPassed(report), report.leftovers, statusOf("list.pages")]).toEqual([true, [], "skipped"]);
    expect(statusOf("errors.status-codes")).toBe("passed");
    expect([most > 1, most <= 5]).toEqual([true, true]);
    expect(await fixture.resources?.()).toEqual([]);
  });

  it("deletes what a killed run left, also in the other cluster", async () => {
    const fixture = await sharedCloud();
    const killed = await openSession({ fixture, profile: "sandbox" });
    const machineOf = (number: number) => ({
      name: `${killed.namePrefix}-${number}`,
      namespace: "conformance",
      uid: `uid-${number}`,
    });
    await killed.caller.create(machineOf(1));
    const { otherClusterClass } = fixture;
    if (otherClusterClass !== undefined)
      await killed.caller.with({ machineClass: otherClusterClass }).create(machineOf(2));
    await killed.close();
    const run = (laterMs: number) => {
      const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + laterMs) };
      return runConformance({ fixture, only: ["spec.pure"], profile: "sandbox", clock });
    };
    await run(hourMs);
    expect(await fixture.inventory?.()).toHaveLength(2);
    const { leftovers } = await run(3 * hourMs);
    expect([leftovers, await fixture.inventory?.()]).toEqual([[], []]);
  });

  it("creates no more VMs than it may", async () => {
    let creations = 0;
    const fixture = await sharedCloud((setup) =>
      driverWith(setup, (right) => ({
        createMachine(request, context) {
          creations++;
          return right.createMachine(request, context);
        },
      })),
    );
    const only = ["create.vm-is-found", "create.new-user-data-is-same-vm", "delete.removes-vm"];
    const { results } = await runConformance({ fixture, only, profile: "sandbox", maxCreations: 2 });
    expect(results.map(({ status, reason }) => `${status} ${reason}`.trim())).toEqual([
      "passed",
      "passed",
      "skipped The run has created 2 VMs, and may create no more.",
    ]);
    // The second of them was requested twice.
    expect(creations).toBe(3);
    const few = await runConformance({ fixture, only: ["node.match"], profile: "sandbox", maxVms: 1 });
    expect(few.results[0]).toMatchObject({ status: "skipped", reason: "It needs more than 1 VMs at once." });
    expect(creations).toBe(4);
    expect(await fixture.inventory?.()).toEqual([]);
  });

  it("stops when a driver leaks more VMs than may exist, and deletes them at the end", async () => {
    let leaks = true;
    const fixture = await sharedCloud((setup) =>
      driverWith(setup, (right) => ({
        deleteMachine: (request, context) =>
          leaks ? Promise.resolve({ vm: "ended" }) : right.deleteMachine(request, context),
      })),
    );
    const report = await runConformance({
      fixture,
      profile: "sandbox",
      only: ["create", "node", "status"],
      maxVms: 3,
      onResult: ({ status, reason }) => void (leaks &&= !(status === "skipped" && reason.includes("was stopped"))),
    });
    expect(report.stopped).toMatch(/^The run was stopped: it left [4-9] VMs, more than 3\.$/);
    expect(report.leftovers.length).toBeGreaterThan(3);
    expect([isPassed(report), await fixture.inventory?.()]).toEqual([false, []]);
  });

  it("stops between two checks when its signal is aborted, and has not passed", async () => {
    const fixture = await sharedCloud();
    const stop = new AbortController();
    const only = ["create.vm-is-found", "delete.removes-vm"];
    const onResult = () => stop.abort();
    const report = await runConformance({ fixture, profile: "sandbox", only, signal: stop.signal, onResult });
    expect(report.results.map(({ status }) => status)).toEqual(["passed", "skipped"]);
    expect([report.stopped, isPassed(report), report.leftovers]).toEqual(["The run was stopped.", false, []]);
  });
});
