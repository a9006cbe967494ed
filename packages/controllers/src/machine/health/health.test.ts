import {
  finalizers,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core";
import { type FakeApi } from "@millwright/kube/testing";
import { ApiError, type EventRecord, nodeResource, secretResource } from "@millwright/kube";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { ControllerContext } from "../../cluster/context.ts";
import {
  aMachine,
  aMachineClass,
  aMachineDeployment,
  aNode,
  type Change,
  inPhase,
  labelled,
  named,
  testNamespace,
} from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { createFakeDriver } from "../../testing/fake-driver.ts";
import { createMachineController } from "../controller.ts";
import { defaultMachineSettings, type MachineSettings } from "../snapshot.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });
const refOf = (name: string) => ({ namespace: testNamespace, name });
const nodeOf = (name: string) => ({ name: `node-of-${name}` });

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** Machines that have joined and run, and the real controller that looks after them. */
async function aFleet(
  machines: Readonly<Record<string, Change<Machine>>>,
  options: { readonly settings?: Partial<MachineSettings>; readonly workers?: number; readonly limit?: string } = {},
) {
  const logged: string[] = [];
  const { api, clock, newContext, run } = createTestCluster({ log: (_, message) => void logged.push(message) });
  const driver = createFakeDriver();
  const events: string[] = [];
  api.seed(machineClassResource, aMachineClass());
  const userData = Buffer.from("#cloud-config").toString("base64");
  api.seed(secretResource, { metadata: refOf("small"), data: { userData } } as never);
  api.seed(
    machineDeploymentResource,
    aMachineDeployment(
      options.limit === undefined
        ? {}
        : { metadata: { annotations: { "machine.millwright.dev/max-replacements": options.limit } } },
    ),
  );
  for (const [name, change] of Object.entries(machines)) {
    const metadata = {
      labels: { node: nodeOf(name).name },
      annotations: { "machinepriority.machine.sapcloud.io": "3" },
    };
    const status = { ...ready("True"), currentStatus: { phase: "Running", lastUpdateTime: "2026-01-01T00:00:00Z" } };
    const machine = aMachine({ metadata, spec: { providerID: `vm-${name}` }, status }, named(name), change);
    driver.vms.set(machine.metadata.uid ?? "", `vm-${name}`);
    api.seed(machineResource, machine);
    api.seed(
      nodeResource,
      aNode({
        metadata: {
          ...nodeOf(name),
          finalizers: [finalizers.node],
          labels: { "node.gardener.cloud/machine-name": name },
        },
        spec: { providerID: `vm-${name}` },
        status: ready("True"),
      }),
    );
  }

  const start = async () => {
    const stop = new AbortController();
    const context: ControllerContext = {
      ...newContext(),
      events: {
        record: (_: unknown, { reason }: EventRecord) => void events.push(reason),
        flush: async () => {},
        close: () => {},
        counts: () => ({ sent: 0, dropped: 0 }),
      },
    };
    const { controller, operations } = createMachineController(context, {
      driver,
      settings: { ...defaultMachineSettings, ...options.settings },
      workers: options.workers ?? 10,
    });
    await run(context, stop.signal);
    const running = controller.start(stop.signal);
    const end = async () => {
      stop.abort(new Error("stopped"));
      await operations.close();
      await running;
    };
    stops.push(end);
    await clock.advance(100);
    return end;
  };
  const end = await start();

  const machine = (name: string) => api.peek<Machine>(machineResource, refOf(name));
  const phase = (name: string) => machine(name)?.status?.currentStatus?.phase;
  const text = (name: string) => machine(name)?.status?.lastOperation?.description ?? "";
  const report = (name: string, status: string) => api.change(nodeResource, nodeOf(name), { status: ready(status) });
  const inPhases = (wanted: string) => Object.keys(machines).filter((name) => phase(name) === wanted);
  const away = (times: number) => {
    const unreachable = new ApiError({ status: 0, reason: "Unreachable", message: "no route" });
    // All caches together use this many attempts up.
    api.inject({ verb: "watch", error: unreachable, times });
    api.endWatches();
  };
  return { api, clock, driver, events, logged, start, end, machine, phase, text, report, inPhases, away };
}

const fleetOf = (count: number, change: (index: number) => Change<Machine> = () => ({})) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`m${String(index).padStart(2, "0")}`, change(index)]),
  );

describe("a node that stays unhealthy", () => {
  it("makes its machine Unknown at once, and Failed after the health timeout", async () => {
    const { clock, events, report, phase, text } = await aFleet(fleetOf(4));
    report("m00", "Unknown");
    await clock.advance(1_000);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(10 * MINUTE - 2_000);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(3_000);
    expect(phase("m00")).toBe("Failed");
    expect(text("m00")).toContain("health checks failing for 10m0s");
    expect(events).toEqual(["NodeUnhealthy", "HealthTimedOut"]);
  });

  it("is forgiven when it is healthy again, also after that", async () => {
    const { clock, report, phase } = await aFleet(fleetOf(4));
    report("m00", "False");
    await clock.advance(9 * MINUTE);
    report("m00", "True");
    await clock.advance(1_000);
    expect(phase("m00")).toBe("Running");
    report("m00", "False");
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Failed");
    report("m00", "True");
    await clock.advance(MINUTE);
    expect(phase("m00")).toBe("Running");
  });

  it("has its machine deleted when it is deleted by a user, once", async () => {
    const { api, clock, events, machine } = await aFleet(fleetOf(4));
    const held = { ...refOf("m00") };
    api.change(machineResource, held, { metadata: { finalizers: [finalizers.machine, "test/hold"] } });
    await clock.advance(100);
    api.calls.length = 0;
    api.change(nodeResource, nodeOf("m00"), { metadata: { deletionTimestamp: "2026-01-01T00:00:01Z" } });
    await clock.advance(5_000);
    const deletions = api.writes().filter(({ verb, resource }) => verb === "delete" && resource.startsWith("machines"));
    expect(deletions).toHaveLength(1);
    expect(events[0]).toBe("NodeDeleted");
    expect(machine("m00")?.metadata.deletionTimestamp).toBeDefined();
  });
});

describe("the replacement gate", () => {
  it("lets one of two machines pass that time out at the same moment, with many workers", async () => {
    const { clock, events, report, inPhases, api, text } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
    const [waiting = ""] = inPhases("Unknown");
    expect(text(waiting)).toContain("Waiting until other machines of deployment pool have been replaced");
    expect(events.filter((reason) => reason === "ReplacementWaiting")).toHaveLength(1);
    // The first one is gone: the other one goes on at once.
    const [failed = ""] = inPhases("Failed");
    api.change(machineResource, refOf(failed), { metadata: { finalizers: [] } });
    api.remove(machineResource, refOf(failed));
    await clock.advance(100);
    expect(inPhases("Failed")).toEqual([waiting]);
  });

  it("is as wide as the deployment's annotation says, and follows it", async () => {
    const { api, clock, report, inPhases } = await aFleet(fleetOf(20), { limit: "10%" });
    for (const name of ["m00", "m01", "m02", "m03", "m04"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(2);
    api.change(machineDeploymentResource, refOf("pool"), {
      metadata: { annotations: { "machine.millwright.dev/max-replacements": "4" } },
    });
    await clock.advance(100);
    expect(inPhases("Failed")).toHaveLength(4);
  });

  it("says what is wrong with an annotation that cannot be read, and keeps to the setting", async () => {
    const { clock, report, inPhases, text } = await aFleet(fleetOf(12), { limit: "a few" });
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
    const [waiting = ""] = inPhases("Unknown");
    expect(text(waiting)).toContain(
      '(annotation machine.millwright.dev/max-replacements is "a few" where a whole number or a percentage is expected)',
    );
  });

  it("has one for each deployment, and one for machines without the label", async () => {
    const { clock, report, inPhases } = await aFleet(
      fleetOf(20, (index) =>
        index < 2 ? labelled({ name: "other" }) : index < 4 ? { metadata: { labels: { name: null } } } : {},
      ),
    );
    for (let index = 0; index < 5; index++) report(`m0${index}`, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(inPhases("Failed").length).toBe(3);
  });

  it("holds its permit while nobody knows whether a write arrived", async () => {
    const { api, clock, report, inPhases } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(9 * MINUTE);
    const error = new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
    api.inject({ verb: "patch", type: machineResource, subresource: "status", error, phase: "before" });
    await clock.advance(2 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
  });

  it("goes on to the next machine when one that passed it recovers before that could be written", async () => {
    const { api, clock, report, phase } = await aFleet(fleetOf(12));
    for (const name of ["m00", "m01"]) report(name, "Unknown");
    await clock.advance(9 * MINUTE);
    const error = new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
    const fault = { verb: "patch", type: machineResource, subresource: "status", error, times: 1_000 } as const;
    api.inject({ ...fault, key: `${testNamespace}/m00` });
    await clock.advance(2 * MINUTE);
    // One holds the permit, and cannot say so.
    const [holder, waiting] = phase("m01") === "Failed" ? ["m01", "m00"] : ["m00", "m01"];
    expect([holder, phase(waiting)]).toEqual(["m00", "Unknown"]);
    report(holder, "True");
    await clock.advance(5 * MINUTE);
    expect(phase(waiting)).toBe("Failed");
  });

  it("is never passed by more than the limit, however the passes interleave", async () => {
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
            settings: { maxReplacements: limit, outageMinimum: 100 },
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

describe("many machines that turn Unknown at once", () => {
  it("are not replaced within the hour, then one after the other", async () => {
    const { clock, events, logged, report, inPhases, text } = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) report(name, "Unknown");
    await clock.advance(30 * MINUTE);
    expect(inPhases("Failed")).toEqual([]);
    expect(text("m00")).toContain("Not replaced while this many machines are Unknown");
    expect(events.filter((reason) => reason === "RepairSuspended")).toHaveLength(3);
    expect(logged.filter((line) => line.startsWith("Many machines turned Unknown"))).toHaveLength(1);
    await clock.advance(31 * MINUTE);
    expect(inPhases("Failed")).toHaveLength(1);
  });

  it("are judged anew as soon as some have recovered", async () => {
    const { clock, logged, report, inPhases } = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) report(name, "Unknown");
    await clock.advance(15 * MINUTE);
    expect(inPhases("Failed")).toEqual([]);
    report("m02", "True");
    await clock.advance(1_000);
    expect(inPhases("Running")).toHaveLength(8);
    expect(inPhases("Failed")).toHaveLength(1);
    expect(logged).toContain("The machines that turned Unknown at once are few again");
  });

  it("are told by zone, and another zone goes on", async () => {
    const zone = (name: string): Change<Machine> => ({
      spec: { nodeTemplate: { metadata: { labels: { "topology.kubernetes.io/zone": name } } } },
      metadata: { labels: { name: `pool-${name}` } },
    });
    const { clock, report, phase, text } = await aFleet(fleetOf(40, (index) => zone(index < 8 ? "a" : "b")));
    for (const name of ["m00", "m01", "m02", "m10"]) report(name, "Unknown");
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    expect(text("m00")).toContain("machines of zone a");
    expect(phase("m10")).toBe("Failed");
  });

  it("are known by a new process as well", async () => {
    const fleet = await aFleet(fleetOf(10));
    for (const name of ["m00", "m01", "m02"]) fleet.report(name, "Unknown");
    await fleet.clock.advance(5 * MINUTE);
    await fleet.end();
    await fleet.start();
    await fleet.clock.advance(20 * MINUTE);
    expect(fleet.inPhases("Failed")).toEqual([]);
  });
});

describe("an API server that is away", () => {
  it("holds every replacement back, and starts health timeouts anew when it is back", async () => {
    const { api, clock, events, logged, report, phase, away } = await aFleet(fleetOf(12));
    report("m00", "Unknown");
    await clock.advance(MINUTE);
    away(600);
    await clock.advance(9 * MINUTE + 5_000);
    expect(phase("m00")).toBe("Unknown");
    expect(events).toContain("RepairSuspended");
    const answers = "An API server answers again; timeouts of nodes start anew";
    for (let minutes = 0; minutes < 60 && !logged.includes(answers); minutes++) await clock.advance(MINUTE);
    expect(logged).toContain(answers);
    expect(events).toContain("HealthTimeoutReset");
    const resetAt = api.peek<Machine>(machineResource, refOf("m00"))?.status?.currentStatus?.lastUpdateTime ?? "";
    expect(Date.parse(resetAt)).toBeGreaterThan(clock.now().getTime() - 2 * MINUTE);
    await clock.advance(8 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(3 * MINUTE);
    expect(phase("m00")).toBe("Failed");
  });

  it("holds a machine that has not joined, says so at once, and gives it its time when it is back", async () => {
    const { api, clock, phase, away } = await aFleet(fleetOf(1));
    const created = clock.now().toISOString();
    const waiting = aMachine(named("late"), inPhase("Pending"), {
      metadata: { creationTimestamp: created, labels: { node: "node-of-late" } },
      spec: { providerID: "vm-late", creationTimeout: "10m" },
    });
    api.seed(machineResource, waiting);
    await clock.advance(MINUTE);
    const text = (): string | undefined =>
      api.peek<Machine>(machineResource, refOf("late"))?.status?.lastOperation?.description;
    away(600);
    await clock.advance(MINUTE);
    expect(text()).toContain("cannot be seen");
    await clock.advance(10 * MINUTE);
    expect(phase("late")).toBe("Pending");
    for (let minutes = 0; minutes < 60 && text()?.includes("cannot be seen"); minutes++) await clock.advance(MINUTE);
    expect(text()).toBe("Creating machine on cloud provider");
    await clock.advance(8 * MINUTE);
    expect(phase("late")).toBe("Pending");
    await clock.advance(3 * MINUTE);
    expect(phase("late")).toBe("Failed");
  });

  it("is no trouble when it was away for a moment", async () => {
    const { clock, events, report, phase, away } = await aFleet(fleetOf(12));
    report("m00", "Unknown");
    await clock.advance(MINUTE);
    away(2);
    await clock.advance(9 * MINUTE + 1_000);
    expect(phase("m00")).toBe("Failed");
    expect(events).not.toContain("HealthTimeoutReset");
  });
});

describe("a node that goes up and down", () => {
  const statusWrites = (api: FakeApi): number =>
    api.writes().filter(({ resource, subresource }) => resource.startsWith("machines") && subresource === "status")
      .length;

  it("every 30 s for an hour costs a few writes, and is never replaced for it", async () => {
    const { api, clock, report, phase } = await aFleet(fleetOf(12));
    api.calls.length = 0;
    for (let turn = 0; turn < 60; turn++) {
      report("m00", "False");
      await clock.advance(30_000);
      report("m00", "True");
      await clock.advance(30_000);
      expect(phase("m00")).not.toBe("Failed");
    }
    expect(statusWrites(api)).toBeLessThanOrEqual(8);
    await clock.advance(11 * MINUTE);
    expect(phase("m00")).toBe("Running");
  });

  it("costs at most 24 writes an hour, whatever the rhythm, and ends as the node ends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1_000, max: 6 * MINUTE }), { minLength: 20, maxLength: 120 }),
        async (rhythm) => {
          const fleet = await aFleet(fleetOf(12));
          fleet.api.calls.length = 0;
          let isUp = true;
          let passed = 0;
          for (const ms of rhythm) {
            if (passed + ms > HOUR) break;
            isUp = !isUp;
            fleet.report("m00", isUp ? "True" : "False");
            await fleet.clock.advance(ms);
            passed += ms;
          }
          expect(statusWrites(fleet.api)).toBeLessThanOrEqual(24);
          await fleet.clock.advance(22 * MINUTE);
          expect(fleet.phase("m00")).toBe(isUp ? "Running" : "Failed");
          const writes = statusWrites(fleet.api);
          await fleet.clock.advance(HOUR);
          expect(statusWrites(fleet.api)).toBe(writes);
          await fleet.end();
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);
});

describe("a restart", () => {
  const unhealthySince = (now: Date) => ({
    status: { conditions: [{ type: "Ready", status: "False", lastTransitionTime: now.toISOString() }] },
  });

  it("replaces no machine whose node was healthy in between, though nobody remembers that", async () => {
    const { api, clock, report, phase, start, end } = await aFleet(fleetOf(12));
    report("m00", "False");
    await clock.advance(MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await end();
    // Up and down again while nobody looked.
    await clock.advance(8 * MINUTE);
    api.change(nodeResource, nodeOf("m00"), unhealthySince(clock.now()));
    await clock.advance(4 * MINUTE);
    await start();
    await clock.advance(5 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(2 * MINUTE);
    expect(phase("m00")).toBe("Failed");
  });

  it("does not make a machine wait longer whose node was down all the time", async () => {
    const { api, clock, phase, start, end } = await aFleet(fleetOf(12));
    api.change(nodeResource, nodeOf("m00"), unhealthySince(clock.now()));
    await clock.advance(MINUTE);
    await end();
    await clock.advance(7 * MINUTE);
    await start();
    await clock.advance(MINUTE);
    expect(phase("m00")).toBe("Unknown");
    await clock.advance(2 * MINUTE);
    expect(phase("m00")).toBe("Failed");
  });
});

it("gives up a machine that failed to update, and does not take it back for its node's health", async () => {
  const { clock, events, phase } = await aFleet(
    fleetOf(4, (index) =>
      index > 0
        ? {}
        : {
            status: {
              ...inPhase("InPlaceUpdateFailed").status,
              lastOperation: { type: "InPlaceUpdate", state: "Failed" },
            },
          },
    ),
  );
  await clock.advance(9 * MINUTE);
  expect(phase("m00")).toBe("InPlaceUpdateFailed");
  await clock.advance(20 * MINUTE);
  expect(phase("m00")).toBe("Failed");
  expect(events).toEqual(["HealthTimedOut"]);
});
