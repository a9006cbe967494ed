import { get } from "node:http";
import { beforeEach, expect, test } from "vitest";
import { arrayAt, stringAt } from "../json/json.ts";
import { startServer, type TestServer, versionOf } from "../testing/start-server.ts";

let server: TestServer;
const warnings: string[] = [];
beforeEach(async () => {
  warnings.length = 0;
  server = await startServer({ log: (_level, message) => void warnings.push(message) });
});

const maps = "/api/v1/namespaces/default/configmaps";
const create = (name: string, data = {}) => server.call("POST", maps, { metadata: { name }, data });
const namesOf = (body: Parameters<typeof arrayAt>[0]) =>
  arrayAt(body, "items").map((item) => stringAt(item, "metadata", "name"));

const metrics = async () => JSON.stringify((await server.call("GET", "/metrics")).body["text"]).replaceAll('\\"', '"');

test("a continue token of a compacted version gets 410 with a token for the present state", async () => {
  for (const name of ["a", "b", "c"]) await create(name);
  const first = await server.call("GET", `${maps}?limit=1`);
  const token = stringAt(first.body, "metadata", "continue") ?? "";
  await server.call("DELETE", `${maps}/b`);
  expect(namesOf((await server.call("GET", `${maps}?limit=5&continue=${token}`)).body)).toEqual(["b", "c"]);
  server.server.compactHistory();
  await create("d");
  const expired = await server.call("GET", `${maps}?limit=5&continue=${token}`);
  expect(expired).toMatchObject({ code: 410, body: { reason: "Expired", metadata: { continue: expect.any(String) } } });
  const fresh = stringAt(expired.body, "metadata", "continue") ?? "";
  const rest = await server.call("GET", `${maps}?limit=1&continue=${fresh}`);
  expect(namesOf(rest.body)).toEqual(["c"]);
  const last = stringAt(rest.body, "metadata", "continue") ?? "";
  expect(namesOf((await server.call("GET", `${maps}?limit=1&continue=${last}`)).body)).toEqual(["d"]);
});

test("Exact lists the past, NotOlderThan the present, and a compacted version is Expired", async () => {
  const { body } = await create("a");
  const then = versionOf(body);
  await create("b");
  const list = (match: string) => server.call("GET", `${maps}?resourceVersion=${then}&resourceVersionMatch=${match}`);
  const exact = await list("Exact");
  expect(namesOf(exact.body)).toEqual(["a"]);
  expect(versionOf(exact.body)).toBe(then);
  const newer = await list("NotOlderThan");
  expect(namesOf(newer.body)).toEqual(["a", "b"]);
  expect(Number(versionOf(newer.body))).toBeGreaterThan(Number(then));
  server.server.compactHistory();
  await create("c");
  expect(await list("Exact")).toMatchObject({ code: 410, body: { reason: "Expired" } });
  expect((await list("NotOlderThan")).code).toBe(200);
});

test("a watcher that does not read is disconnected, and takes no more memory than its limit until then", async () => {
  const request = get(`${server.url}${maps}?watch=1`, (response) => response.pause());
  request.on("error", () => {});
  const running = async () => /longrunning_requests\{[^}]*configmaps"\} (\d)/.exec(await metrics())?.[1];
  await expect.poll(running).toBe("1");
  const large = { text: "x".repeat(900_000) };
  for (let round = 0; round < 60 && warnings.length === 0; round += 1) await create(`large-${round}`, large);
  expect(warnings).toContain("watch client is too slow and was disconnected");
  await expect.poll(running).toBe("0");
  request.destroy();
});

test("an initial state larger than the limit reaches a client that reads, followed by the changes meanwhile", async () => {
  const large = { text: "y".repeat(1_000_000) };
  for (let index = 0; index < 24; index += 1) await create(`large-${index}`, large);
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const watch = server.watch(`${maps}?${query}`);
  const first = await watch.next();
  await create("meanwhile");
  const seen = [first];
  while (seen.length < 26) seen.push(await watch.next());
  expect(seen.slice(0, 24).every((event) => event?.["type"] === "ADDED")).toBe(true);
  expect(seen.slice(24)).toMatchObject([
    { type: "BOOKMARK", object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } } },
    { type: "ADDED", object: { metadata: { name: "meanwhile" } } },
  ]);
  expect(warnings).toEqual([]);
  watch.close();
});
