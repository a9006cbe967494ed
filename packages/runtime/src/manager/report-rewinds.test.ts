import { createVirtualClock } from "@millwright/core/testing";
import { createServerHistory } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it, vi } from "vitest";
import { reportRewinds } from "./report-rewinds.ts";

const evidence = { resource: "machines.machine.sapcloud.io", found: "a list at version 3 after version 9" };

const setUp = (isSeparate: boolean) => {
  const clock = createVirtualClock();
  const control = { history: createServerHistory(clock) };
  const target = isSeparate ? { history: createServerHistory(clock) } : control;
  const registry = new Registry();
  const [record, log] = [vi.fn<(...call: unknown[]) => void>(), vi.fn<(...call: unknown[]) => void>()];
  const end = reportRewinds({ control, target }, { namespace: "shoot--a", registry, events: { record }, log });
  return { control, target, registry, record, log, end };
};

it("counts, logs and reports on the namespace that the API server went back", async () => {
  const { control, registry, record, log, end } = setUp(false);
  expect(await registry.metrics()).toContain('millwright_api_server_rewinds_total{api_server="control"} 0');
  control.history.report(evidence);
  expect(await registry.metrics()).toContain('millwright_api_server_rewinds_total{api_server="control"} 1');
  expect(await registry.metrics()).not.toContain("target");
  expect(log).toHaveBeenCalledWith("warn", expect.stringContaining("went back"), { cluster: "control", ...evidence });
  expect(record).toHaveBeenCalledWith(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shoot--a", namespace: "shoot--a" } },
    {
      type: "Warning",
      reason: "APIServerWentBack",
      message: expect.stringMatching(
        /^API server of the control cluster went back .*a list at version 3 after version 9/,
      ),
    },
  );
  end();
  control.history.report(evidence);
  expect(record).toHaveBeenCalledTimes(1);
});

it("only logs an incomplete list", async () => {
  const { control, registry, record, log } = setUp(false);
  control.history.report({ kind: "incomplete list", ...evidence });
  expect(log).toHaveBeenCalledWith("warn", expect.stringContaining("incomplete"), { cluster: "control", ...evidence });
  expect(await registry.metrics()).toContain('millwright_api_server_rewinds_total{api_server="control"} 0');
  expect(record).not.toHaveBeenCalled();
});

it("counts each cluster by itself", async () => {
  const { target, registry } = setUp(true);
  target.history.report(evidence);
  const text = await registry.metrics();
  expect(text).toContain('millwright_api_server_rewinds_total{api_server="control"} 0');
  expect(text).toContain('millwright_api_server_rewinds_total{api_server="target"} 1');
});
