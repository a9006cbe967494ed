import { createVirtualClock } from "@millwright/base/testing";
import { expect, test } from "vitest";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createFakeApi } from "../testing/fake-api.ts";
import { answer, serve, servedNode } from "../testing/served-client.ts";
import { createFencedClient } from "./fenced-client.ts";
import { isLeadershipLost, LeadershipLostError } from "./leadership.ts";

function setUp() {
  const api = createFakeApi({ clock: createVirtualClock() });
  const lost = new AbortController();
  let isLeader = true;
  const fence = () => {
    if (!isLeader) throw new LeadershipLostError("not leading");
  };
  const client = createFencedClient(api, { fence, lost: lost.signal });
  return { api, client, lost, lose: () => (isLeader = false) };
}

test("refuses every write after leadership was lost, sends none of them, and goes on reading", async () => {
  const { api, client, lose } = setUp();
  const node = { metadata: { name: "a" } };
  await client.create(nodeResource, node);
  lose();
  api.calls.length = 0;
  const ref = { name: "a" };
  const writes = [
    () => client.create(nodeResource, { metadata: { name: "b" } }),
    () => client.patch(nodeResource, ref, {}, { kind: "merge" }),
    () => client.replace(nodeResource, node),
    () => client.delete(nodeResource, ref),
    () => client.request({ method: "POST", path: "/x" }),
  ];
  for (const write of writes) expect(isLeadershipLost(await write().catch((error: unknown) => error))).toBe(true);
  expect(api.calls).toEqual([]);
  await expect(client.get(nodeResource, ref)).resolves.toMatchObject(node);
  expect((await client.list(nodeResource)).items).toHaveLength(1);
});

test("aborts a write that is under way when leadership ends", async () => {
  const { client, lost } = setUp();
  const stop = new AbortController();
  lost.abort(new LeadershipLostError("lost"));
  const write = client.create(nodeResource, { metadata: { name: "b" } }, { signal: stop.signal });
  await expect(write).rejects.toThrow("lost");
});

test.each([
  ["while it waits for a retry that the server requested", 429],
  ["while it waits for a connection", 201],
])("does not send a write when leadership ends %s, before any message of it is handled", async (_, status) => {
  let isLeader = true;
  const fence = () => {
    if (!isLeader) throw new LeadershipLostError("not leading");
  };
  const { server, api } = await serve(
    (_request, response) => {
      isLeader = false;
      answer(response, status, status === 429 ? { kind: "Status", code: 429 } : servedNode, { "retry-after": "0" });
    },
    { maxConnections: 1 },
  );
  const client = createFencedClient(api, { fence, lost: new AbortController().signal });
  const write = () => client.create(nodeResource, { metadata: { name: "a" } }).catch((error: unknown) => error);
  const last = status === 429 ? write() : Promise.all([write(), write()]).then(([, second]) => second);
  expect(isLeadershipLost(await last)).toBe(true);
  expect(server.requests).toHaveLength(1);
});
