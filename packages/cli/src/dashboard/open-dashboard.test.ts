import type { ApiClient, Log } from "@millwright/kube";
import { expect, test, vi } from "vitest";
import { openDashboard } from "./open-dashboard.ts";

const flags = { dashboard: true, dashboardAddress: { address: "127.0.0.1", port: 0 } };
const sources = { fleets: [], reviewClient: { request: vi.fn<ApiClient["request"]>() } };

test("the dashboard is not served unless the flag is set", async () => {
  const log = vi.fn<Log>();
  expect(await openDashboard({ ...flags, dashboard: false }, sources, log)).toBeUndefined();
  expect(log).not.toHaveBeenCalled();
});

test("the dashboard is served at the address, and a port in use is logged: controllers run without it", async () => {
  const log = vi.fn<Log>();
  const first = await openDashboard(flags, sources, log);
  expect(log).toHaveBeenLastCalledWith("info", "Serving the dashboard", { address: first?.url });
  expect((await fetch(first?.url ?? "")).status).toBe(200);
  const port = Number(new URL(first?.url ?? "").port);
  expect(
    await openDashboard({ ...flags, dashboardAddress: { address: "127.0.0.1", port } }, sources, log),
  ).toBeUndefined();
  expect(log).toHaveBeenLastCalledWith("error", "The dashboard is not served", {
    error: expect.stringMatching(/^--dashboard-address: cannot listen on .*EADDRINUSE/),
  });
  await first?.close();
});
