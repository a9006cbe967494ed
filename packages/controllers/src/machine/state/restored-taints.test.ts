import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createRestoredTaints } from "./restored-taints.ts";

it("counts how often a taint was put back, until it stays for an hour or the machine is deleted", async () => {
  const clock = createVirtualClock();
  const restored = createRestoredTaints(clock);
  expect(restored.of("uid").size).toBe(0);
  restored.record("uid", ["a:NoSchedule", "b:NoSchedule"], "kubectl");
  await clock.advance(1_000);
  restored.record("uid", ["a:NoSchedule"], undefined);
  expect(Object.fromEntries(restored.of("uid"))).toEqual({
    "a:NoSchedule": { times: 2, agoMs: 0, manager: undefined },
    "b:NoSchedule": { times: 1, agoMs: 1_000, manager: "kubectl" },
  });
  expect(restored.of("other").size).toBe(0);
  await clock.advance(3_599_000);
  expect([...restored.of("uid").keys()]).toEqual(["a:NoSchedule"]);
  await clock.advance(1_000);
  restored.record("uid", ["a:NoSchedule"], undefined);
  expect(restored.of("uid").get("a:NoSchedule")?.times).toBe(1);
  restored.forget("uid");
  expect(restored.of("uid").size).toBe(0);
});
