import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isConfigError } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExecCredentials } from "./exec-credentials.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "exec-"));
});
afterAll(() => rm(folder, { recursive: true }));

const apiVersion = "client.authentication.k8s.io/v1";

/** A plug-in that is a Node script; `started()` counts its runs. */
async function plugin(name: string, script: string, options: { timeoutMs?: number; cluster?: object } = {}) {
  const log = join(folder, name);
  const body = `require("node:fs").appendFileSync(process.env.LOG, "x");
    const { readFileSync } = require("node:fs"); const run = readFileSync(process.env.LOG, "utf8").length;
    const answer = (status) => console.log(JSON.stringify({ apiVersion: ${JSON.stringify(apiVersion)}, kind: "ExecCredential", status }));
    ${script}`;
  const clock = createVirtualClock({ now: new Date("2026-01-01T00:00:00Z") });
  const get = createExecCredentials({
    plugin: {
      apiVersion,
      command: process.execPath,
      args: ["-e", body],
      env: { LOG: log },
      ...(options.cluster === undefined ? {} : { cluster: { ...options.cluster } }),
    },
    where: "kubeconfig",
    env: process.env,
    headers: { "impersonate-user": "someone" },
    clock,
    timeoutMs: options.timeoutMs,
  });
  const started = async () => (await readFile(log, "utf8").catch(() => "")).length;
  const token = async (...args: Parameters<typeof get>) => (await get(...args)).headers?.["authorization"];
  return { clock, get, token, started };
}

const hourly = `answer({ token: "t" + run, expirationTimestamp: new Date(Date.parse("2026-01-01T00:00:00Z") + run * 3600e3).toISOString() });`;

async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((error: unknown) => error);
  expect(isConfigError(error)).toBe(true);
  return error instanceof Error ? error.message : "";
}

test("runs the program once for requests that come together, and keeps its answer", async () => {
  const { get, started } = await plugin("once", `answer({ token: "t" + run })`);
  const answers = await Promise.all([get(), get(), get()]);
  expect(answers[0]).toEqual({ headers: { authorization: "Bearer t1", "impersonate-user": "someone" } });
  expect(new Set(answers).size).toBe(1);
  await get();
  expect(await started()).toBe(1);
});

test("renews before the answer expires, while the old one is still handed out", async () => {
  const { clock, token, started } = await plugin("early", hourly);
  expect(await token()).toBe("Bearer t1");
  await clock.advance(54 * 60_000);
  expect(await token()).toBe("Bearer t1");
  expect(await started()).toBe(1);
  await clock.advance(2 * 60_000);
  expect(await token()).toBe("Bearer t1");
  await expect.poll(() => token()).toBe("Bearer t2");
  expect(await started()).toBe(2);
});

test("keeps a valid credential while renewals fail, and fails with their error once it has expired", async () => {
  const { clock, token } = await plugin(
    "broken",
    `if (run === 1) { ${hourly} } else { console.error("no login"); process.exit(3); }`,
  );
  expect(await token()).toBe("Bearer t1");
  await clock.advance(58 * 60_000);
  expect(await token()).toBe("Bearer t1");
  await clock.advance(3 * 60_000);
  expect(await failureOf(token())).toMatch(
    /^kubeconfig: the credential plugin failed: .* exited with status 3: no login$/,
  );
});

test("runs again at once when the server refused the answer", async () => {
  const { get, token } = await plugin("refused", `answer({ token: "t" + run })`);
  const refused = await get();
  expect(await token(undefined, refused)).toBe("Bearer t2");
  // A late 401 of the first one does not throw the second one away.
  expect(await token(undefined, refused)).toBe("Bearer t2");
});

test("passes cluster information to the program if it is configured", async () => {
  const script = `answer({ token: JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec.cluster.server })`;
  const { token } = await plugin("info", script, { cluster: { server: "https://there" } });
  expect(await token()).toBe("Bearer https://there");
});

test("does not wait longer than the caller does, and shares the run with the next one", async () => {
  const { token, started } = await plugin("slow", `setTimeout(() => answer({ token: "t" + run }), 300)`);
  const stop = new AbortController();
  const given = token(stop.signal);
  stop.abort(new Error("stopping"));
  await expect(given).rejects.toThrow("stopping");
  expect(await token()).toBe("Bearer t1");
  expect(await started()).toBe(1);
});

test.each([
  ["text", `console.log("SECRET-TOKEN-TEXT")`, "not JSON"],
  ["kind", `console.log("{}")`, "the output is not an ExecCredential"],
  [
    "version",
    `console.log(JSON.stringify({ kind: "ExecCredential", apiVersion: "v9", status: {} }))`,
    'apiVersion "v9"',
  ],
  ["nothing", `answer({})`, "neither a token nor a certificate"],
  ["half", `answer({ clientCertificateData: "SECRET" })`, "must be set together"],
  ["time", `answer({ token: "SECRET", expirationTimestamp: "soon" })`, "status.expirationTimestamp"],
  ["flood", `process.stdout.write("SECRET".repeat(1e6))`, "exited with SIGTERM"],
])("reports an invalid output (%s) in one line, without quoting it", async (name, script, message) => {
  const { token } = await plugin(`bad-${name}`, script);
  const failure = await failureOf(token());
  expect(failure).toContain(message);
  expect(failure).not.toMatch(/SECRET|\n/);
});

test("ends a program that does not end", async () => {
  const { clock, token, started } = await plugin("endless", `setInterval(() => {}, 1000)`, { timeoutMs: 5_000 });
  const asked = failureOf(token());
  await expect.poll(started).toBe(1);
  await clock.advance(5_000);
  expect(await asked).toContain("did not exit within 5000 ms");
});
