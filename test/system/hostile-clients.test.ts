import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { controllersUser, grantRules } from "../harness/grant-roles.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const reviews = ["tokenreviews", "subjectaccessreviews"];

/** Keeps connections to ports open, each with hundreds of pipelined requests, with random tokens, or with headers that never end. */
function startFlood(ports: readonly number[], connections: number) {
  const sockets = new Set<Socket>();
  const answers = new Map<string, number>();
  let isStopped = false;
  let tokens = 0;
  const request = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer random-${++tokens}\r\n\r\n`;
  const open = (index: number): void => {
    if (isStopped) return;
    const socket = connect(ports[index % ports.length] ?? 0, "127.0.0.1");
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(open, 20, index);
    });
    socket.on("data", (chunk) => {
      for (const [, status = ""] of chunk.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3})/g))
        answers.set(status, (answers.get(status) ?? 0) + 1);
      // A client that waits for its answer: every second one. The others pipeline.
      if (index % 2 === 1) socket.write(request("/metrics"));
    });
    if (index % 10 === 0) return void socket.write("GET /metrics HTTP/1.1\r\nx-endless: ");
    const first = index % 2 === 1 ? 1 : 100;
    socket.write(Array.from({ length: first }, () => request(index % 4 < 2 ? "/metrics" : "/api/stream")).join(""));
  };
  for (let index = 0; index < connections; index++) open(index);
  return {
    answers,
    tokens: () => tokens,
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One sequence: each test continues after the previous one. */
describe.skipIf(process.platform !== "linux")(
  "endpoints that strangers reach (Linux: more than one loopback address)",
  () => {
    let fleet: ControlledFleet;
    let controllers: MillwrightProcess;
    let [metricsPort, dashboardPort] = [0, 0];
    beforeAll(async () => {
      fleet = await startControlledFleet({}, { tokens: { jane: { user: "jane" }, bob: { user: "bob" } } });
      await grantRules(fleet.api, controllersUser, [
        { apiGroups: ["authentication.k8s.io", "authorization.k8s.io"], resources: reviews, verbs: ["create"] },
      ]);
      await grantRules(fleet.api, "jane", [
        { nonResourceURLs: ["/metrics"], verbs: ["get"] },
        { apiGroups: ["machine.sapcloud.io"], resources: ["machines"], verbs: ["get"] },
      ]);
      [metricsPort = 0, dashboardPort = 0] = await freePorts(2);
      controllers = fleet.run(
        `--port=${metricsPort}`,
        "--address=127.0.0.1",
        "--metrics-authorization",
        "--dashboard",
        `--dashboard-address=0.0.0.0:${dashboardPort}`,
      );
      await controllers.waitFor(/"msg":"Leading"/);
      await controllers.waitFor(/"msg":"Serving the dashboard"/);
    });
    afterAll(() => fleet.close());

    /** From another address than the flood, over a connection of its own, as a kubelet does. */
    const statusOf = (port: number, path: string, token?: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        get({ port, host: "127.0.0.1", localAddress: "127.0.0.2", path, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on("error", reject);
      });
    const metrics = (token?: string) => statusOf(metricsPort, "/metrics", token);
    const dashboard = (token?: string) => statusOf(dashboardPort, "/none", token);

    it("serve metrics and rows only with the token of a user who may get them", async () => {
      for (const read of [metrics, dashboard]) {
        expect(await read()).toBe(401);
        expect(await read("mallory")).toBe(401);
        expect(await read("bob")).toBe(403);
      }
      expect([await metrics("jane"), await dashboard("jane")]).toEqual([200, 404]);
      expect(await statusOf(metricsPort, "/healthz")).toBe(200);
      await expect.poll(() => statusOf(metricsPort, "/readyz")).toBe(200);
    });

    it("stay up in a flood of random tokens, as do the controllers, while the API server reviews slowly", async () => {
      const { server } = fleet;
      const slow = server.faults.add({ match: { resources: reviews }, effect: { kind: "latency", ms: 3_000 } });
      const reviewsBefore = server.requests.filter(({ resource }) => reviews.includes(resource)).length;
      const flood = startFlood([metricsPort, dashboardPort], 300);
      const startedMs = performance.now();
      try {
        await expect.poll(() => flood.answers.get("429") ?? 0, { timeout: 60_000 }).toBeGreaterThan(100);
        await fleet.deploy(2);
        await fleet.untilRunning(2);
        // Who was known goes on to read, and probes are answered.
        for (let round = 0; round < 20; round++) {
          expect(await metrics("jane")).toBe(200);
          expect(await dashboard("jane")).toBe(404);
          expect(await statusOf(metricsPort, "/healthz")).toBe(200);
          expect(await statusOf(metricsPort, "/readyz")).toBe(200);
        }
        await fleet.scale(3);
        await fleet.untilRunning(3);
      } finally {
        flood.stop();
        slow.remove();
      }
      const minutes = (performance.now() - startedMs) / 60_000;
      const posted = server.requests.filter(({ resource }) => reviews.includes(resource)).length - reviewsBefore;
      expect(flood.tokens()).toBeGreaterThan(2_000);
      // Both endpoints together: 20 at once, one each second; and those of the user who is known.
      expect(posted).toBeLessThan(2 * (20 + 60 * minutes) + 2 * (2 + 4 * minutes));
      expect(controllers.output()).not.toContain("event loop is blocked");
    }, 240_000);
  },
);
