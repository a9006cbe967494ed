import { aDrainView, aMachine, aNode, aPod, testNow } from "@millwright/controllers/testing";
import { describe, expect, it } from "vitest";
import { previewDeletionDrain } from "./simulate-drain.ts";

const MINUTE = 60_000;
const ago = (ms: number): string => new Date(testNow.getTime() - ms).toISOString();
const view = aDrainView({ pods: [aPod()] });

describe("previewDeletionDrain", () => {
  it("starts now when nothing is being deleted, with the defaults, also for a node without a machine", () => {
    for (const machine of [undefined, aMachine()]) {
      const { terms, preview } = previewDeletionDrain(machine, view, testNow);
      const startedAt = testNow.getTime();
      const end = startedAt + 120 * MINUTE;
      expect(terms).toMatchObject({ mode: "normal", startedAt, evictUntil: end, deadline: end, cordon: true });
      expect(preview.outcome).toBe("completes");
    }
  });

  it("continues a deletion, with the machine's own timeouts", () => {
    const machine = aMachine(
      { metadata: { deletionTimestamp: ago(MINUTE) } },
      { spec: { drainTimeout: "5m", maxEvictRetries: 3 } },
    );
    expect(previewDeletionDrain(machine, view, testNow).terms).toMatchObject({
      startedAt: testNow.getTime() - MINUTE,
      evictUntil: testNow.getTime(),
      deadline: testNow.getTime() + 4 * MINUTE,
    });
  });

  it.each([
    ["a user requests it", aMachine({ metadata: { labels: { "force-deletion": "True" } } }), aNode()],
    [
      "the node was not ready for too long",
      aMachine(),
      aNode({
        status: { conditions: [{ type: "Ready", status: "Unknown", lastTransitionTime: ago(6 * MINUTE) }] },
      }),
    ],
  ])("forces when %s", (_, machine, node) => {
    const { preview } = previewDeletionDrain(machine, { ...view, node }, testNow);
    expect(preview).toMatchObject({ outcome: "forced", steps: [{ how: "kill", pods: ["default/web"] }] });
  });
});
