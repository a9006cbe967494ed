import { systemClock } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { sweepLeftovers } from "./checks/sweep.ts";
import { reachedLevel } from "./report/level.ts";
import { contractRules } from "./rules/registry.ts";
import { areaOf } from "./rules/registry.ts";
import { runConformance } from "./run-conformance.ts";
import { runStartOf } from "./session/run-id.ts";
import { openSession } from "./session/session.ts";
import { toyFixture } from "./testing/toy-fixture.ts";

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
      'there is no rule "create.nothing"',
    );
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
