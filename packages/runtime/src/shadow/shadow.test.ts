import { machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { attachShadow, createShadow } from "./shadow.ts";

const namespace = "default";
const start = () => {
  const clock = createVirtualClock();
  const lines: (readonly [string, object])[] = [];
  const shadow = createShadow({
    graceMs: 10_000,
    reportMs: 60_000,
    clock,
    log: (_level, message, fields) => void lines.push([message, fields ?? {}]),
  });
  const client = shadow.attach(namespace).client(createFakeApi());
  const intend = () =>
    client.patch(machineSetResource, { namespace, name: "set" }, { spec: { replicas: 3 } }, { kind: "merge" });
  return { clock, lines, shadow, intend };
};

describe("a shadow", () => {
  it("reports in each interval, and once more at its end", async () => {
    const { clock, lines, shadow } = start();
    const stop = new AbortController();
    const ended = shadow.run(stop.signal);
    await clock.advance(150_000);
    expect(lines.map(([message]) => message)).toEqual(["Shadow report", "Shadow report"]);
    stop.abort();
    await ended;
    expect(lines).toHaveLength(3);
  });

  it("lists a difference in its report and in its metrics until the action is not due any more", async () => {
    const { clock, lines, shadow, intend } = start();
    for (let second = 0; second <= 10; second++) {
      await intend();
      await clock.advance(1_000);
    }
    shadow.logReport();
    const difference = { action: "ChangeSpec", kind: "MachineSet", name: "set", detail: '{"replicas":3}' };
    expect(lines).toMatchObject([
      ["Shadow difference: the other manager has not done it", difference],
      ["Shadow report", { due: 0, differences: 1, recordDifferences: 0 }],
      ["Shadow report: difference", difference],
    ]);
    expect(await shadow.metrics()).toContain('millwright_shadow_differences{kind="MachineSet",action="ChangeSpec"} 1');
    await clock.advance(10_000);
    expect(shadow.report()).toEqual({ due: [], differences: [] });
    expect(await shadow.metrics()).toContain('millwright_shadow_late_total{kind="MachineSet",action="ChangeSpec"} 1');
  });

  it("leaves a manager without one as it is", () => {
    const api = createFakeApi();
    expect(attachShadow(undefined, namespace).client(api)).toBe(api);
  });
});
