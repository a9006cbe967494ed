import { afterEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aBudget, aDeployment } from "../harness/manifests.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** PodDisruptionBudgets that block a drain, with failing processes and API servers. */
describe("a drain and PodDisruptionBudgets", () => {
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;

  const namesOn = async (): Promise<readonly string[]> =>
    (await fleet.podsOn(node)).map(({ metadata }) => metadata.name ?? "");
  const counted = (name: string, allowed: number): Promise<void> =>
    eventually(async () => {
      const status = await fleet.kubectl([
        "get",
        "pdb",
        name,
        "-o",
        "jsonpath={.status.expectedPods} {.status.disruptionsAllowed}",
      ]);
      expect(status).toMatch(new RegExp(`^[1-9]\\d* ${allowed}$`));
    });

  /** Time of the first such request in the server's log: later steps depend on how busy the computer is. */
  const firstOf = (what: "eviction" | "deletion"): number =>
    fleet
      .requests()
      .find(({ verb, resource, subresource }) =>
        what === "eviction" ? subresource === "eviction" : verb === "delete" && resource === "pods",
      )
      ?.time.getTime() ?? Number.NaN;
  const begin = async (...flags: readonly string[]): Promise<void> => {
    fleet = await startDrainingFleet(2, ...flags);
    ({ machine, node } = await fleet.victim());
  };
  afterEach(() => fleet.close());

  it("evicts the pods of a service one at a time, and never violates its budget", async () => {
    await begin();
    await fleet.fillNode(node, 4, aDeployment("web", 4), aBudget("web", { minAvailable: 3 }));
    await counted("web", 1);
    fleet.invariants.requireReadyPods("web", 3);
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 60_000);
    expect(fleet.evicted()).toHaveLength(4);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("names a budget that can never be met, sends no eviction, and continues at once when it is fixed", async () => {
    await begin();
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    await counted("web", 0);
    await fleet.deleteMachine(machine);
    const text = "PodDisruptionBudget default/web can never be met: maxUnavailable is 0";
    await fleet.untilLastOperation(machine, text);
    await pause(3_000);
    expect((await fleet.eventsOf(machine)).filter((message) => message.includes(text))).toHaveLength(1);
    expect(await namesOn()).toHaveLength(2);
    expect(fleet.requests().filter(({ subresource }) => subresource === "eviction")).toEqual([]);
    const fixedAt = Date.now();
    await fleet.kubectl(["patch", "pdb", "web", "--type=merge", "-p", '{"spec":{"maxUnavailable":1}}']);
    await fleet.untilMachineDeleted(machine);
    expect(firstOf("eviction") - fixedAt).toBeLessThan(10_000);
    await fleet.invariants.check();
  });

  it("waits until the drain timeout for a budget that is not fixed, then deletes the remaining pods", async () => {
    await begin("--machine-drain-timeout=8s");
    await fleet.fillNode(node, 1, aDeployment("web", 1), aBudget("web", { maxUnavailable: 0 }));
    await counted("web", 0);
    const begun = Date.now();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "can never be met");
    await pause(begun + 6_000 - Date.now());
    expect(await namesOn()).toHaveLength(1);
    fleet.invariants.allowForce();
    await fleet.untilMachineDeleted(machine);
    expect(Date.now() - begun).toBeGreaterThan(7_000);
    await fleet.kubectl(["rollout", "status", "deployment/web", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("names both budgets of a pod with two budgets", async () => {
    await begin();
    await fleet.fillNode(
      node,
      1,
      aDeployment("web", 1),
      aBudget("web", { maxUnavailable: 1 }),
      aBudget("web", { minAvailable: 0 }, "second"),
    );
    await counted("second", 1);
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "PodDisruptionBudgets default/second and default/web both select the pod");
    expect(await namesOn()).toHaveLength(1);
    await fleet.kubectl(["delete", "pdb", "second"]);
    await fleet.untilMachineDeleted(machine);
    expect(fleet.evicted()).toHaveLength(1);
    await fleet.invariants.check();
  });

  it("waits for pods that are not ready yet, and reports how many", async () => {
    await begin();
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { minAvailable: 1 }));
    await counted("web", 1);
    const fault = fleet.server.clusterFaults.add({ kind: "pod-never-starts", labels: { app: "web" } });
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "PodDisruptionBudget default/web needs 1 more healthy pod");
    await eventually(async () => expect(await namesOn()).toHaveLength(1));
    fault.remove();
    await fleet.untilMachineDeleted(machine);
    await fleet.invariants.check();
  });

  it("keeps drain timeout and budgets when it is killed during the drain", async () => {
    await begin("--machine-drain-timeout=20s");
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    await counted("web", 0);
    const begun = Date.now();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "can never be met");
    const restart = await fleet.kill();
    await pause(6_000);
    expect(await namesOn()).toHaveLength(2);
    restart();
    await pause(begun + 18_000 - Date.now());
    expect(await namesOn()).toHaveLength(2);
    fleet.invariants.allowForce();
    await fleet.untilMachineDeleted(machine);
    expect(firstOf("deletion") - begun).toBeGreaterThan(19_000);
    await fleet.invariants.check();
  });

  it.each([
    [
      "does not answer",
      () => fleet.server.faults.add({ match: { userAgent: "millwright" }, effect: { kind: "partition" } }),
    ],
    [
      "answers 500",
      () => fleet.server.faults.add({ match: { userAgent: "millwright" }, effect: { kind: "status", code: 500 } }),
    ],
  ])("takes no pod for gone while the API server %s", async (_, strike) => {
    await begin();
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { maxUnavailable: 0 }));
    await counted("web", 0);
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "can never be met");
    strike();
    await pause(8_000);
    expect(fleet.cloud.vms().find(({ name }) => name === machine)?.state).toBe("running");
    expect(await namesOn()).toHaveLength(2);
    fleet.server.faults.clear();
    await fleet.kubectl(["patch", "pdb", "web", "--type=merge", "-p", '{"spec":{"maxUnavailable":1}}']);
    await fleet.untilMachineDeleted(machine, 60_000);
    expect(fleet.evicted()).toHaveLength(2);
    await fleet.invariants.check();
  });

  it("ignores the budget at once when force deletion is requested", async () => {
    await begin();
    await fleet.fillNode(node, 1, aDeployment("web", 1), aBudget("web", { maxUnavailable: 0 }));
    await counted("web", 0);
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "can never be met");
    const asked = Date.now();
    fleet.invariants.allowForce();
    await fleet.kubectl(["label", "machine", machine, "force-deletion=True"]);
    await fleet.untilMachineDeleted(machine);
    expect(firstOf("deletion") - asked).toBeLessThan(15_000);
    await fleet.invariants.check();
  });
});
