import { machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, controllersAgent, startControlledFleet } from "../harness/controlled-fleet.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Failures of the API server under the shipped command. */
describe("millwright run while the API server fails", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  it("waits for an API server that is down at start, calls no cloud meanwhile, and starts when it is up", async () => {
    fleet = await startControlledFleet();
    await fleet.deploy(2);
    const restarted = fleet.server.restart({ downMs: 8_000 });
    const controllers = fleet.run();
    await pause(6_000);
    expect(controllers.child.exitCode).toBeNull();
    expect(controllers.output()).not.toContain('"Ready"');
    expect(fleet.cloud.calls).toEqual([]);
    await restarted;
    await fleet.untilRunning(2);
    expect(fleet.callsOf("create")).toBe(2);
  });

  it("creates one VM per machine when the API server restarts during many creations", async () => {
    fleet = await startControlledFleet({ latencyMs: 150 });
    const controllers = fleet.run();
    await controllers.waitFor(/"Leading"/);
    let most = 0;
    fleet.cloud.subscribe(() => {
      most = Math.max(most, fleet.cloud.vms().length);
    });
    await fleet.deploy(20);
    for (let round = 0; round < 3; round += 1) {
      await pause(500);
      await fleet.server.restart({ downMs: 400 });
    }
    await fleet.untilRunning(20, 100_000);
    expect(most).toBe(20);
    expect(controllers.child.exitCode).toBeNull();
  });

  it("misses and repeats nothing when watches end repeatedly", async () => {
    fleet = await startControlledFleet();
    await fleet.run().waitFor(/"Ready"/);
    const readyAt = new Date();
    const match = { verbs: ["watch"], userAgent: controllersAgent };
    const stop = new AbortController();
    const cutting = (async () => {
      while (!stop.signal.aborted) {
        fleet.server.faults.add({ match, effect: { kind: "partition" } }).remove();
        await pause(1_000);
      }
    })();
    await fleet.deploy(4);
    await fleet.untilRunning(4);
    await fleet.scale(1);
    await fleet.untilRunning(1);
    await fleet.scale(3);
    await fleet.untilRunning(3);
    stop.abort();
    await cutting;
    expect(fleet.callsOf("create")).toBe(6);
    expect(fleet.callsOf("delete")).toBeGreaterThanOrEqual(3);
    const ofCaches = fleet
      .requests()
      .filter(({ resource, time }) => time > readyAt && /^(machine|nodes$|pods$)/.test(resource));
    // More watches ended than the six kinds started with. A drain lists the pods of its node.
    const watches = ofCaches.filter(({ verb, isList }) => verb === "watch" && !isList).length;
    expect(watches).toBeGreaterThan(6);
    // Before there is a machine, the caches that are empty are compared with the server once.
    const created =
      ofCaches.find(({ verb, resource }) => verb === "create" && resource === "machines")?.time ?? readyAt;
    const lists = ofCaches.filter(({ isList, resource, time }) => isList && resource !== "pods" && time > created);
    // Most continued from their newest object. A list is only for a kind whose newest object was deleted meanwhile, or all of whose objects changed.
    expect(lists.length).toBeLessThan(watches / 2);
  });

  it("detects missed deletions by a new list after 410, and completes them", async () => {
    fleet = await startControlledFleet();
    await fleet.run().waitFor(/"Ready"/);
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    const blind = fleet.server.faults.add({
      match: { verbs: ["watch", "list"], userAgent: controllersAgent },
      effect: { kind: "partition" },
    });
    await fleet.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" });
    await pause(1_000);
    fleet.server.compactHistory();
    blind.remove();
    await fleet.untilGone();
    expect(fleet.callsOf("create")).toBe(3);
  });

  it("respects Retry-After when writes fail with 429, and drops no work", async () => {
    fleet = await startControlledFleet();
    await fleet.run().waitFor(/"Leading"/);
    const match = {
      verbs: ["create", "patch", "update"],
      resources: ["machines", "machines/status", "machinesets"],
      userAgent: controllersAgent,
    };
    const fault = fleet.server.faults.add({
      match,
      effect: { kind: "status", code: 429, retryAfterSeconds: 1 },
      times: 12,
    });
    await fleet.deploy(4);
    await fleet.untilRunning(4, 90_000);
    expect(fault.hits).toBe(12);
    const refused = fleet.requests().filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(12);
    const waits = refused.flatMap((first) => {
      const again = fleet
        .requests()
        .find(
          ({ time, verb, resource, subresource, name }) =>
            time > first.time &&
            `${verb} ${resource} ${subresource} ${name}` ===
              `${first.verb} ${first.resource} ${first.subresource} ${first.name}`,
        );
      return first.name === "" || again === undefined ? [] : [again.time.getTime() - first.time.getTime()];
    });
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(900);
  });
});
