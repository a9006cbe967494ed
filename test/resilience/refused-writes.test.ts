import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, controllersAgent, startControlledFleet } from "../harness/controlled-fleet.ts";
import { nodeResource } from "@millwright/kube";
import { eventually } from "../harness/eventually.ts";
import { startMillwright } from "../harness/millwright.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The shipped command, and an API server that refuses its writes of the status, as a webhook or a size limit does. */
describe("millwright run whose status patches are refused", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const refuse = (code: number) =>
    fleet.server.faults.add({
      match: { verbs: ["patch", "update"], resources: ["machines/status"], userAgent: controllersAgent },
      effect: { kind: "status", code },
    });
  const calls = (): number => fleet.cloud.calls.length;
  const refusedWrites = (): number =>
    fleet.requests().filter(({ resource, subresource }) => `${resource}/${subresource}` === "machines/status").length;

  it.each([403, 413, 422, 500])(
    "repeats neither driver calls nor writes in a loop after %i, and continues afterwards",
    async (code) => {
      fleet = await startControlledFleet();
      await fleet.run().waitFor(/"Ready"/);
      const refusal = refuse(code);
      if (code === 403) fleet.expectForbidden(/^patch .*\/machines\/[^/]+\/status$/);
      await fleet.deploy(4);
      await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(4));
      // A Node that joins causes a reconcile, whatever the backoff.
      await eventually(async () => expect((await fleet.api.list(nodeResource)).items).toHaveLength(4), 60_000);
      await pause(2_000);
      const [callsBefore, writesBefore, start] = [calls(), refusedWrites(), performance.now()];
      await pause(6_000);
      // The first list of the VMs of a class is at a random moment of the first minute.
      const called = fleet.cloud.calls.slice(callsBefore).filter(({ operation }) => operation !== "list");
      expect(called).toEqual([]);
      const repeated = refusedWrites() - writesBefore;
      // One, and others after 0.2, 0.4, 0.8, 1.6, 3.2 s and so on for each machine, however long the pause took.
      const mostPerMachine = 1 + Math.ceil(Math.log2((performance.now() - start) / 200 + 1));
      expect(repeated).toBeLessThanOrEqual(4 * mostPerMachine);
      refusal.remove();
      await fleet.untilRunning(4);
      expect(fleet.callsOf("create")).toBe(4);
    },
  );

  it("is what why names, from the event of the machine, and promises no time that cannot come", async () => {
    fleet = await startControlledFleet();
    const refusal = refuse(422);
    await fleet.run().waitFor(/"Ready"/);
    await fleet.deploy(1);
    const why = async (): Promise<string> => {
      const command = startMillwright(["why", "mcd/fleet", `--control-kubeconfig=${fleet.kubeconfig}`]);
      await command.ended;
      return command.output().replaceAll(/[\s│]+/g, " ");
    };
    await eventually(async () =>
      expect(await why()).toMatch(/\[stuck\] WriteRefused: Failed to patch status of Machine /),
    );
    const text = await why();
    expect(text).toContain("Change the webhook, policy, quota or role that refuses the write");
    expect(text).not.toContain("at the latest");
    refusal.remove();
    await fleet.untilRunning(1);
    await eventually(async () => expect(await why()).toContain("is as desired"), 240_000);
  });

  it("keeps the failure of a creation, and calls the driver again only when it is stored", async () => {
    fleet = await startControlledFleet();
    await fleet.run().waitFor(/"Ready"/);
    await fleet.cloud.addFault({ operation: "create", code: "Internal", times: 1_000 });
    const refusal = refuse(422);
    await fleet.deploy(2);
    await eventually(async () => expect(fleet.callsOf("create")).toBeGreaterThan(0));
    await pause(1_000);
    const before = fleet.callsOf("create");
    await pause(4_000);
    expect(fleet.callsOf("create")).toBe(before);
    await fleet.cloud.clearFaults();
    refusal.remove();
    await fleet.untilRunning(2, 120_000);
  });
});
