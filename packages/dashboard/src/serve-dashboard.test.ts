import { request } from "node:http";
import { systemClock } from "@millwright/base";
import { ApiError, type Log, noLog } from "@millwright/kube";
import { afterEach, expect, test, vi } from "vitest";
import { aMachine, createTestFleet, type TestFleet } from "./testing/fleet.ts";
import { type Dashboard, type DashboardOptions, serveDashboard } from "./serve-dashboard.ts";

let dashboard: Dashboard | undefined;
afterEach(async () => {
  await dashboard?.close();
  dashboard = undefined;
});

async function start(change: Partial<DashboardOptions> = {}, fleet: TestFleet = createTestFleet()): Promise<string> {
  dashboard = await serveDashboard({
    address: "127.0.0.1",
    port: 0,
    fleets: [fleet.fleet],
    reviewClient: { request: () => Promise.reject(new Error("no request is expected")) },
    toYaml: (object) => JSON.stringify(object),
    clock: systemClock,
    log: noLog,
    ...change,
  });
  return dashboard.url.slice(0, -1);
}

/** What an API server with these users does. */
function reviews(users: Readonly<Record<string, { readonly namespaces: readonly string[] }>>) {
  return vi.fn<DashboardOptions["reviewClient"]["request"]>(({ path, body }) => {
    const { spec } = body as {
      readonly spec: { token: string; user: string; resourceAttributes: { namespace: string } };
    };
    const user = users[spec.token];
    const status = path.endsWith("tokenreviews")
      ? { authenticated: user !== undefined, user: { username: spec.token, groups: ["g"] } }
      : { allowed: users[spec.user]?.namespaces.includes(spec.resourceAttributes.namespace) === true };
    return Promise.resolve({ status: 201, body: { status } });
  });
}

const statusOf = async (url: string, init: RequestInit = {}): Promise<number> => {
  const response = await fetch(url, init);
  await response.body?.cancel();
  return response.status;
};
const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

test("serves the page and its modules, whose imports are all paths that are served", async () => {
  const url = await start();
  const seen = new Set<string>();
  const open = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    const response = await fetch(url + path);
    expect(response.status, path).toBe(200);
    const text = await response.text();
    const found = path.endsWith(".js")
      ? [...text.matchAll(/^import\s[^"]*"([^"]+)";$/gm)]
      : [...text.matchAll(/(?:src|href)="([^"]+)"/g)];
    for (const [, target = ""] of found) {
      expect(target, path).toMatch(/^[./]/);
      await open(new URL(target, url + path).pathname);
    }
  };
  await open("/");
  expect([...seen]).toEqual(expect.arrayContaining(["/style.css", "/main.js", "/lib/preact.js", "/views/machines.js"]));
});

test("the page has no inline scripts, styles or handlers, and the policy forbids them", async () => {
  const url = await start();
  const response = await fetch(url);
  const text = await response.text();
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});

test.each(["/", "/api/stream", "/api/machines/ns/none", "/none"])("%s has the headers of security", async (path) => {
  const response = await fetch((await start()) + path);
  await response.body?.cancel();
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-security-policy": expect.stringContaining("script-src 'self'"),
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
  });
});

test.each(["POST", "PUT", "PATCH", "DELETE"])("rejects %s: the page is read-only", async (method) => {
  const url = await start();
  for (const path of ["/", "/api/stream", "/api/machines/ns/a"])
    expect(await statusOf(url + path, { method })).toBe(405);
});

test.each([
  "/../package.json",
  "/%2e%2e/package.json",
  "/..%2fpackage.json",
  "/tsconfig.json",
  "/fleet.test.ts",
  "/api/machines/other/a",
  "/api/machines/ns/%E0%A4%A",
  "/api/constructor/ns/a",
  "/api/secrets/ns/a",
])("there is nothing at %s", async (path) => {
  const url = new URL(await start());
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ host: url.hostname, port: url.port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
  expect(status).toBe(404);
});

test("rejects a web page whose name resolves to this machine", async () => {
  const url = new URL(await start());
  const statusFor = (host: string, path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ port: url.port, host: "127.0.0.1", path, headers: { host } }, (response) => {
        response.destroy();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
  for (const path of ["/", "/main.js", "/api/stream", "/api/machines/ns/a"])
    expect(await statusFor("evil.example:8090", path)).toBe(403);
  expect(await statusFor("localhost:8090", "/")).toBe(200);
  expect(await statusFor("[::1]:8090", "/")).toBe(200);
});

test("away from loopback it needs the token of a user who may get machines in all namespaces", async () => {
  const reviewClient = { request: reviews({ jane: { namespaces: ["ns", "other"] }, bob: { namespaces: ["other"] } }) };
  const other = createTestFleet({ namespace: "other" });
  await start({ address: "0.0.0.0", reviewClient, fleets: [createTestFleet().fleet, other.fleet] });
  const url = `http://127.0.0.1:${dashboard?.port}`;
  for (const path of ["/api/stream", "/api/machines/ns/a", "/none"]) {
    expect(await statusOf(url + path)).toBe(401);
    expect(await statusOf(url + path, bearer("mallory"))).toBe(401);
    expect(await statusOf(url + path, bearer("bob"))).toBe(403);
    expect(await statusOf(url + path, bearer("jane"))).toBe(path === "/api/stream" ? 200 : 404);
  }
  // The page itself has no data.
  expect(await statusOf(url)).toBe(200);
  expect(reviewClient.request.mock.calls.map(([{ body }]) => body)).toContainEqual(
    expect.objectContaining({
      spec: expect.objectContaining({
        user: "jane",
        groups: ["g"],
        resourceAttributes: { verb: "get", group: "machine.sapcloud.io", resource: "machines", namespace: "ns" },
      }),
    }),
  );
});

test("a token is reviewed once in a while, not with each request", async () => {
  const reviewClient = { request: reviews({ jane: { namespaces: ["ns"] } }) };
  await start({ address: "0.0.0.0", reviewClient });
  const url = `http://127.0.0.1:${dashboard?.port}/none`;
  for (let round = 0; round < 5; round++) expect(await statusOf(url, bearer("jane"))).toBe(404);
  expect(reviewClient.request).toHaveBeenCalledTimes(2);
});

test("without the permission to review tokens no one gets in, and the reason is shown", async () => {
  const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "tokenreviews is forbidden" });
  const reviewClient = { request: () => Promise.reject(forbidden) };
  await start({ address: "0.0.0.0", reviewClient });
  const response = await fetch(`http://127.0.0.1:${dashboard?.port}/api/stream`, bearer("jane"));
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("system:auth-delegator")]);
});

test("a machine whose texts are hostile is shown with all of them as short, plain texts", async () => {
  const test = createTestFleet();
  const hostile = `</script><img src=x onerror=alert(1)>\u202E\u0000${"A".repeat(1_000_000)}`;
  test.machines.applyEvent({
    ...aMachine("a", { status: { lastOperation: { description: hostile } } }),
    metadata: {
      ...aMachine("a").metadata,
      annotations: { [hostile]: hostile },
      managedFields: [{ manager: hostile }],
    } as never,
  });
  const url = await start({}, test);
  const response = await fetch(`${url}/api/machines/ns/a`);
  const text = await response.text();
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(text.length).toBeLessThan(100_000);
  expect(text).not.toMatch(/\u202E|\\u0000|managedFields/);
});

test("a report that fails is logged, and the response does not quote it", async () => {
  const log = vi.fn<Log>();
  const test = createTestFleet({ describeMachine: () => Promise.reject(new Error("canary-in-error")) });
  test.machines.applyEvent(aMachine("a"));
  const response = await fetch(`${await start({ log }, test)}/api/machines/ns/a`);
  expect([response.status, await response.text()]).toEqual([502, expect.not.stringContaining("canary")]);
  expect(log).toHaveBeenCalledWith("warn", "The dashboard cannot show an object", expect.anything());
});

test("events that may not be listed leave the rest of the details", async () => {
  const test = createTestFleet({ events: () => Promise.reject(new Error("events is forbidden")) });
  test.machines.applyEvent(aMachine("a"));
  const details = await (await fetch(`${await start({}, test)}/api/machines/ns/a`)).json();
  expect(details).toMatchObject({
    eventsProblem: "events is forbidden",
    report: { machine: { metadata: { name: "a" } } },
  });
});

test("names the address when the port is in use", async () => {
  const { port } = new URL(await start());
  await expect(
    serveDashboard({
      address: "127.0.0.1",
      port: Number(port),
      fleets: [],
      reviewClient: { request: vi.fn<DashboardOptions["reviewClient"]["request"]>() },
      toYaml: String,
      clock: systemClock,
      log: noLog,
    }),
  ).rejects.toThrow(/^cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
});
