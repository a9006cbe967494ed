import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { startServer } from "../testing/start-server.ts";

test("an event is deleted an hour after it was last seen, and not before", async () => {
  const clock = createVirtualClock({ now: new Date("2026-01-01T00:00:00Z") });
  const api = await startServer({ clock });
  const path = "/api/v1/namespaces/default/events";
  const involvedObject = { kind: "Pod", name: "p", namespace: "default" };
  await api.call("POST", path, { metadata: { name: "old" }, involvedObject });
  await api.call("POST", path, { metadata: { name: "seen" }, involvedObject, lastTimestamp: "2026-01-01T00:50:00Z" });
  await clock.advance(50 * 60_000);
  expect((await api.call("GET", path)).body["items"]).toHaveLength(2);
  await clock.advance(20 * 60_000);
  expect((await api.call("GET", path)).body["items"]).toMatchObject([{ metadata: { name: "seen" } }]);
  await api.server.close();
  expect(clock.pending()).toBe(0);
});
