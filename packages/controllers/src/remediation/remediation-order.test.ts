import { machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { ApiError, nodeResource } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labeled, refOf, testNamespace } from "../testing/builders.ts";
import { aFleet, fleetOf, MINUTE, nodeOf } from "../testing/machine-fleet.ts";

describe("the remediation budget", () => {
  it("allows one of two machines that time out at the same moment, with many workers", async () => {
    const { clock, events, report, inPhases, api, text } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
    const [waiting = ""] = inPhases("Unknown");
    expect(text(waiting)).toContain("Waiting for the remediation of other machines of deployment pool");
    expect(events.filter((reason) => reason === "RemediationDeferred")).toHaveLength(1);
    // The first one is deleted: the other one is remediated at once.
    const [failed = ""] = inPhases("Failed");
    api.change(machineResource, refOf(failed), { metadata: { finalizers: [] } });
    api.remove(machineResource, refOf(failed));
    await clock.advance(100);
    expect(inPhases("Failed")).toEqual([waiting]);
  });

  it("is that of the deployment's annotation, and follows it", async () => {
    const { api, clock, report, inPhases } = await aFleet(fleetOf(20), { limit: "10%" });
    for (const name of ["m00", "m01", "m02", "m03", "m04"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(2);
    api.change(machineDeploymentResource, refOf("pool"), {
      metadata: { annotations: { "machine.millwright.dev/max-in-flight-remediations": "4" } },
    });
    await clock.advance(100);
    expect(inPhases("Failed")).toHaveLength(4);
  });

  it("reports an annotation that cannot be read, and uses the setting", async () => {
    const { clock, report, inPhases, text } = await aFleet(fleetOf(12), { limit: "a few" });
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
    const [waiting = ""] = inPhases("Unknown");
    expect(text(waiting)).toContain(
      '(annotation machine.millwright.dev/max-in-flight-remediations is "a few" where a whole number or a percentage is expected)',
    );
  });

  it("is free again when a machine that used it is deleted without ever having been Failed", async () => {
    const { api, clock, text, inPhases } = await aFleet(fleetOf(12));
    api.remove(nodeResource, nodeOf("m00"));
    await clock.advance(MINUTE);
    api.remove(nodeResource, nodeOf("m01"));
    await clock.advance(100);
    const error = new ApiError({ status: 500, reason: "InternalError", message: "broken" });
    api.inject({ verb: "patch", type: machineResource, key: `${testNamespace}/m00`, error, times: 1_000 });
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toEqual([]);
    expect(text("m01")).toContain("Waiting for the remediation of other machines of deployment pool");
    api.remove(machineResource, refOf("m00"));
    await clock.advance(100);
    expect(inPhases("Failed")).toEqual(["m01"]);
  });

  it("is separate for each deployment, and for machines without the label", async () => {
    const { clock, report, inPhases } = await aFleet(
      fleetOf(20, (index) =>
        index < 2 ? labeled({ name: "other" }) : index < 4 ? { metadata: { labels: { name: null } } } : {},
      ),
    );
    for (let index = 0; index < 5; index++) report(`m0${index}`, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed").length).toBe(3);
  });

  it("is used while it is unknown whether a write arrived", async () => {
    const { api, clock, report, inPhases } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(9 * MINUTE);
    const error = new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
    api.inject({ verb: "patch", type: machineResource, subresource: "status", error, phase: "before" });
    await clock.advance(2 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
  });

  it("allows the next machine when one that used it recovers before that was written", async () => {
    const { api, clock, report, phase } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(9 * MINUTE);
    const error = new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
    const fault = { verb: "patch", type: machineResource, subresource: "status", error, times: 1_000 } as const;
    api.inject({ ...fault, key: `${testNamespace}/m00` });
    await clock.advance(2 * MINUTE);
    // One uses the budget, and cannot write it.
    const [holder, waiting] = phase("m01") === "Failed" ? ["m01", "m00"] : ["m00", "m01"];
    expect([holder, phase(waiting)]).toEqual(["m00", "Unknown"]);
    report(holder, "True");
    await clock.advance(5 * MINUTE);
    expect(phase(waiting)).toBe("Failed");
  });

  it("never allows more than the limit, however the reconciles interleave", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(
          fc.record({ machine: fc.nat(19), status: fc.constantFrom("True", "Unknown"), after: fc.nat(4 * MINUTE) }),
          { minLength: 8, maxLength: 25 },
        ),
        fc.array(fc.nat(3), { maxLength: 6 }),
        async (limit, reports, failures) => {
          const fleet = await aFleet(fleetOf(20), {
            settings: { maxInFlightRemediations: limit, outageMinMachines: 100 },
          });
          let most = 0;
          const watch = fleet.api.calls;
          const check = (): void => {
            most = Math.max(most, fleet.inPhases("Failed").length);
          };
          for (const skip of failures) {
            const error = new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
            const phase = skip % 2 === 0 ? "after" : "before";
            fleet.api.inject({ verb: "patch", type: machineResource, subresource: "status", error, phase });
          }
          for (const { machine, status, after } of reports) {
            fleet.report(`m${String(machine).padStart(2, "0")}`, status);
            await fleet.clock.advance(after);
            check();
          }
          await fleet.clock.advance(15 * MINUTE);
          check();
          await fleet.end();
          expect(watch.length).toBeGreaterThan(0);
          expect(most).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);
});
