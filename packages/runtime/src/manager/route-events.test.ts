import { createVirtualClock } from "@millwright/core/testing";
import { seededRandom } from "@millwright/base";
import { createEventRecorder, eventResource } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { routeEvents } from "./route-events.ts";

it("records events of Nodes in the target cluster, and all others in the control cluster", async () => {
  const clock = createVirtualClock();
  const [control, target] = [createFakeApi({ clock }), createFakeApi({ clock })];
  const [a, b] = [control, target].map((api) =>
    createEventRecorder({ api, component: "millwright", clock, random: seededRandom(1) }),
  );
  if (a === undefined || b === undefined) throw new Error("no recorders");
  const events = routeEvents(a, b);
  const event = { type: "Warning", reason: "WriteRefused", message: "denied" } as const;
  events.record({ apiVersion: "v1", kind: "Node", metadata: { name: "node", uid: "u" } }, event);
  events.record({ apiVersion: "v1", kind: "Machine", metadata: { namespace: "n", name: "m", uid: "v" } }, event);
  await events.flush();
  const names = (api: typeof control) => api.all(eventResource).map((each) => each["involvedObject"]);
  expect([names(control), names(target)]).toMatchObject([[{ name: "m" }], [{ name: "node" }]]);
  expect(events.counts()).toEqual({ sent: 2, dropped: 0 });
  events.close();
  events.record({ apiVersion: "v1", kind: "Node", metadata: { name: "node", uid: "u" } }, event);
  expect(events.counts()).toEqual({ sent: 2, dropped: 0 });
});
