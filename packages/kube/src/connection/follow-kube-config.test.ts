import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import type { Log } from "../log.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { makeCertificate } from "../testing/certificate.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import { followKubeConfig } from "./follow-kube-config.ts";
import { loadKubeConfig, type LoadKubeConfigOptions } from "./load-kube-config.ts";

let folder = "";
let tests = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "followed-kubeconfig-"));
});
beforeEach(() => mkdir(join(folder, String(++tests))));
afterAll(() => rm(folder, { recursive: true }));

const pathOf = (name: string): string => join(folder, String(tests), name);

const text = (server: string, user: object, current = "x"): string =>
  JSON.stringify({
    "current-context": current,
    clusters: [
      { name: "c", cluster: { server } },
      { name: "d", cluster: { server: "http://127.0.0.1:1" } },
    ],
    users: [{ name: "u", user }],
    contexts: [
      { name: "x", context: { cluster: "c", user: "u" } },
      { name: "y", context: { cluster: "d", user: "u" } },
    ],
  });

/** A server that accepts one bearer token. */
async function serve(token: string) {
  const accepted = { token };
  const seen: (string | undefined)[] = [];
  const server = await startLoopbackServer(({ headers }, response) => {
    const bearer = headers.authorization?.replace("Bearer ", "");
    seen.push(bearer);
    response.statusCode = bearer === accepted.token ? 200 : 401;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ metadata: { name: "a" } }));
  });
  onTestFinished(() => server.close());
  return { url: server.url, seen, accepted };
}

/** Reads a node with a client of the kubeconfig. The clock of the follower passes no time by itself. */
async function follow(options: LoadKubeConfigOptions) {
  let nowMs = 0;
  const log = vi.fn<Log>();
  const config = await loadKubeConfig(options, { clock: { monotonicMs: () => nowMs }, log });
  const api = createApiClient(config, { clock: systemClock });
  onTestFinished(() => api.close());
  return {
    log,
    pass: (ms: number) => void (nowMs += ms),
    read: () => api.get(nodeResource, { name: "a" }),
    rejectedForMs: () => api.rejectedForMs?.() ?? 0,
  };
}

test("reads a file again at once when the server rejects the token", async () => {
  const { url, seen, accepted } = await serve("old");
  const file = pathOf("config");
  await writeFile(file, text(url, { token: "old" }));
  const { read, log, rejectedForMs } = await follow({ file });
  await read();
  accepted.token = "new";
  await expect(read()).rejects.toMatchObject({ status: 401 });
  expect(rejectedForMs()).toBeGreaterThan(0);
  await writeFile(file, text(url, { token: "new" }));
  await read();
  expect(seen).toEqual(["old", "old", "old", "new"]);
  expect(rejectedForMs()).toBe(0);
  expect(log).toHaveBeenCalledExactlyOnceWith("info", "The kubeconfig has changed and is read again", { file });
});

test("renews the token of ten callers at once, and reads the file once for all", async () => {
  const { url, accepted } = await serve("old");
  const file = pathOf("config");
  await writeFile(file, text(url, { token: "old" }));
  const { read, log } = await follow({ file });
  await read();
  accepted.token = "new";
  await writeFile(file, text(url, { token: "new" }));
  await Promise.all(Array.from({ length: 10 }, read));
  expect(log).toHaveBeenCalledOnce();
});

test("reads again what changes while it is read the first time", async () => {
  const file = pathOf("config");
  await writeFile(file, "first");
  const read = async () => {
    const server = await readFile(file, "utf8");
    if (server === "first") await writeFile(file, "renewed");
    return { server };
  };
  const { server, current } = await followKubeConfig({ files: [file], read });
  expect([server, (await current?.(true))?.server]).toEqual(["first", "renewed"]);
});

test("follows a mounted Secret, whose links are swapped, to another server", async () => {
  const [first, second] = [await serve("a"), await serve("b")];
  for (const [name, content] of [
    ["one", text(first.url, { token: "a" })],
    ["two", text(second.url, { token: "b" })],
  ] as const) {
    await mkdir(pathOf(name));
    await writeFile(join(pathOf(name), "kubeconfig"), content);
  }
  await symlink("one", pathOf("..data"));
  await symlink(join("..data", "kubeconfig"), pathOf("kubeconfig"));
  const { read, pass } = await follow({ file: pathOf("kubeconfig") });
  await read();
  await symlink("two", pathOf("..new"));
  await rename(pathOf("..new"), pathOf("..data"));
  await read();
  pass(1_000);
  await read();
  expect([first.seen, second.seen]).toEqual([["a", "a"], ["b"]]);
});

test("keeps what it has while a file is half written or away, and logs each once", async () => {
  const { url, seen } = await serve("t");
  const file = pathOf("config");
  const content = text(url, { token: "t" });
  await writeFile(file, content);
  const { read, pass, log } = await follow({ file });
  for (const broken of [content.slice(0, -9), undefined, "", content.replace('"name":"x"', '"name":"z"')]) {
    await (broken === undefined ? rm(file) : writeFile(file, broken));
    for (let look = 0; look < 3; look++) {
      pass(1_000);
      await read();
    }
  }
  expect(seen).toEqual(Array.from({ length: 12 }, () => "t"));
  expect(log.mock.calls.map(([level]) => level)).toEqual(["warn", "warn", "warn", "warn"]);
  expect(log.mock.calls.map(([, , fields]) => String(fields?.["error"]))).toEqual([
    expect.stringContaining(file),
    expect.stringContaining("the file does not exist"),
    expect.stringContaining("expected one of none (the file has none)"),
    expect.stringContaining('context "x" does not exist'),
  ]);
});

test("reads a changed file again until the files that it names are there", async () => {
  const { url, seen, accepted } = await serve("old");
  const file = pathOf("config");
  await writeFile(file, text(url, { token: "old" }));
  const { read, pass, log } = await follow({ file });
  accepted.token = "new";
  await writeFile(file, text(url, { token: "new" }).replace('"server"', '"certificate-authority":"ca.crt","server"'));
  for (let look = 0; look < 2; look++) {
    pass(1_000);
    await expect(read()).rejects.toMatchObject({ status: 401 });
  }
  await writeFile(pathOf("ca.crt"), makeCertificate("authority").cert);
  pass(1_000);
  await read();
  expect(seen.at(-1)).toBe("new");
  expect(log.mock.calls.map(([level]) => level)).toEqual(["warn", "info"]);
});

test("does not follow a file from outside to what it may not have", async () => {
  const { url, seen } = await serve("t");
  const file = pathOf("config");
  await writeFile(file, text(url, { token: "t" }));
  const { read, pass, log } = await follow({ file, fromOutside: { allowed: [], flag: "--allow" } });
  await writeFile(file, text(url, { tokenFile: "/etc/hostname" }));
  pass(1_000);
  await read();
  expect(seen).toEqual(["t"]);
  expect(log).toHaveBeenCalledExactlyOnceWith(
    "warn",
    "The kubeconfig has changed and cannot be read; what it was before stays in use",
    expect.objectContaining({ error: expect.stringContaining("--allow=files") }),
  );
});

test("stays with its context when someone chooses another one", async () => {
  const { url, seen } = await serve("t");
  const file = pathOf("config");
  await writeFile(file, text(url, { token: "t" }));
  const { read, pass } = await follow({ file });
  await writeFile(file, text(url, { token: "t" }, "y"));
  pass(1_000);
  await read();
  expect(seen).toEqual(["t"]);
});
