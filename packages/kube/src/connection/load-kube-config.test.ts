import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isConfigError } from "@millwright/base";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import { loadKubeConfig } from "./load-kube-config.ts";
import type { LoadKubeConfigOptions } from "./load-kube-config.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));

const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
/** Each kubeconfig is followed. */
const current: unknown = expect.any(Function);
/** What each exec entry has. */
const execV1 = { apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" };
/** What an exec plugin prints. */
const credential = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}';
const base64 = (text: string) => Buffer.from(text).toString("base64");

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string;
}

/** A kubeconfig, as JSON, which is YAML. */
function config({ cluster = {}, user = {}, context = {}, current = "dev" }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": current,
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "dev", context: { cluster: "c", user: "u", ...context } }],
  });
}

async function failure(options: LoadKubeConfigOptions): Promise<string> {
  const error = await loadKubeConfig(options).catch((error: unknown) => error);
  expect(isConfigError(error)).toBe(true);
  const message = error instanceof Error ? error.message : "";
  expect(message).not.toContain("\n");
  return message;
}

test("reads server, namespace, certificates and token", async () => {
  await file("ca.crt", pem);
  const path = await file(
    "complete",
    config({
      cluster: { "certificate-authority": "ca.crt", "tls-server-name": "api" },
      user: { "client-certificate-data": base64(pem), "client-key-data": base64(pem), token: "t" },
      context: { namespace: "shoot" },
    }),
  );
  const loaded = await loadKubeConfig({ file: path });
  expect(loaded).toMatchObject({
    server: "https://127.0.0.1:6443",
    namespace: "shoot",
    tls: { ca: pem, cert: pem, key: pem, serverName: "api" },
  });
  expect(await loaded.credentials?.()).toEqual({ headers: { authorization: "Bearer t" } });
});

test("takes an empty field for one that is not set, as kubectl does", async () => {
  const files = { "client-certificate": "", "client-key": "", tokenFile: "" };
  const path = await file(
    "empty",
    config({
      cluster: { "certificate-authority": "", "certificate-authority-data": "", "tls-server-name": "" },
      user: { ...files, "client-certificate-data": "", "client-key-data": "", token: "t" },
      context: { namespace: "" },
    }),
  );
  const loaded = await loadKubeConfig({ file: path, fromOutside: { allowed: [], flag: "--allow" } });
  expect(loaded).toEqual({
    server: "https://127.0.0.1:6443",
    rejectsLinkLocal: true,
    current,
    credentials: loaded.credentials,
  });
  expect(await loaded.credentials?.()).toEqual({ headers: { authorization: "Bearer t" } });
});

test.each([
  [{ cluster: { "certificate-authority": "a", "certificate-authority-data": base64(pem) } }, "certificate-authority"],
  [{ user: { "client-certificate": "a", "client-certificate-data": base64(pem) } }, "client-certificate"],
])("rejects a file beside the data: %j", async (parts, field) => {
  const message = await failure({ file: await file("both", config(parts)) });
  expect(message).toMatch(new RegExp(`: ${field} and ${field}-data are both set; remove one$`));
});

test("has no credentials for a user that has none", async () => {
  const path = await file("plain", config({ cluster: { server: "http://127.0.0.1:8001" } }));
  expect(await loadKubeConfig({ file: path })).toEqual({ server: "http://127.0.0.1:8001", current });
});

test("sends basic authentication and impersonation", async () => {
  const path = await file("basic", config({ user: { username: "a", password: "b", as: "someone" } }));
  const loaded = await loadKubeConfig({ file: path });
  expect(await loaded.credentials?.()).toEqual({
    headers: { authorization: `Basic ${base64("a:b")}`, "impersonate-user": "someone" },
  });
});

test("sends all kinds of impersonation, each group and each value by itself", async () => {
  const server = await startLoopbackServer((_, response) => void response.end("{}"));
  onTestFinished(server.close);
  const user = {
    token: "t",
    as: "Jürgen",
    "as-uid": "u-1",
    "as-groups": ["team", "system:masters"],
    "as-user-extra": { "example.io/scope%": ["a", "b"], none: [] },
  };
  const path = await file("as", config({ cluster: { server: server.url }, user }));
  const api = createApiClient(await loadKubeConfig({ file: path }));
  onTestFinished(() => api.close());
  await api.request({ method: "GET", path: "/" });
  // Node shows headers as Latin-1; an API server reads UTF-8. Repeated headers are joined.
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: "Bearer t",
    "impersonate-user": Buffer.from("Jürgen").toString("latin1"),
    "impersonate-uid": "u-1",
    "impersonate-group": "team, system:masters",
    "impersonate-extra-example.io%2fscope%25": "a, b",
  });
});

test.each([[{ tokenFile: "token" }], [{ exec: { ...execV1, command: "/bin/echo", args: [credential] } }]])(
  "impersonates with credentials of any kind: %j",
  async (user) => {
    await file("token", "t");
    const path = await file("as-any", config({ user: { ...user, as: "someone" } }));
    const loaded = await loadKubeConfig({ file: path });
    expect((await loaded.credentials?.())?.headers).toMatchObject({
      authorization: "Bearer t",
      "impersonate-user": "someone",
    });
  },
);

test.each([
  [{ "as-groups": ["team"] }, "as-uid, as-groups and as-user-extra need as, the name of a user"],
  [{ token: "t", username: "me" }, "token and username or password are both set; keep one"],
  [{ exec: {}, "auth-provider": { name: "oidc" } }, "exec and auth-provider are both set; keep exec"],
  [{ exec: {} }, "exec.command is missing; expected the name of a program"],
  [
    { "auth-provider": { name: "cloudy" } },
    'auth-provider "cloudy" is not supported; use exec with a credential plugin',
  ],
  [{ "auth-provider": { name: "oidc" } }, 'auth-provider "oidc": config.idp-issuer-url is missing'],
  [
    { exec: { command: "a" } },
    "exec.apiVersion is missing; expected client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
  ],
  [
    { exec: { ...execV1, command: "a", interactiveMode: "Always" } },
    'exec.interactiveMode "Always" needs a terminal; expected Never or IfAvailable',
  ],
  [{ "auth-provider": { name: "gcp" } }, 'auth-provider "gcp" is not supported; use exec with gke-gcloud-auth-plugin'],
])("rejects a user that cannot be used: %j", async (user, problem) => {
  const path = await file("bad-user", config({ user }));
  expect(await failure({ file: path })).toBe(`kubeconfig ${path}: user "u": ${problem}`);
});

test.each([
  [{ as: "a", "as-groups": "team" }, "as-groups: expected a list, found a string"],
  [{ as: "a", "as-user-extra": { scope: "x" } }, "as-user-extra.scope: expected a list, found a string"],
  [{ as: "a", "as-user-extra": ["x"] }, "as-user-extra: expected a mapping, found a list"],
  [{ as: 7 }, "as: expected a text, found a number; write it in quotes"],
  [{ token: true }, "token: expected a text, found a boolean; write it in quotes"],
  [{ "client-key-data": "%" }, "client-key-data is not base64"],
  [{ exec: { command: "a", args: [1] } }, "exec.args[0]: expected a text, found a number; write it in quotes"],
  [{ exec: { command: "a", env: { A: "b" } } }, "exec.env: expected a list, found a mapping"],
])("rejects values of other kinds, also of a user that is not in use: %j", async (user, problem) => {
  const other = { ...(JSON.parse(config()) as object), users: [{ name: "u" }, { name: "v", user }] };
  const path = await file("bad-value", JSON.stringify(other));
  expect(await failure({ file: path })).toBe(`kubeconfig ${path}: users[1].user.${problem}`);
});

test("uses the id-token of OpenID until it expires, and sends nothing without one", async () => {
  const tokenUntil = (seconds: number): string =>
    `h.${Buffer.from(JSON.stringify({ exp: seconds })).toString("base64url")}.s`;
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const load = async (configOf: object) => {
    const provider = { name: "oidc", config: { "idp-issuer-url": "https://id", "client-id": "c", ...configOf } };
    const user = { "auth-provider": provider };
    return loadKubeConfig({ file: await file("oidc", config({ user })) });
  };
  const valid = tokenUntil(nowSeconds + 3_600);
  const loaded = await load({ "id-token": valid, "refresh-token": "r" });
  expect(await loaded.credentials?.()).toEqual({ headers: { authorization: `Bearer ${valid}` } });
  const remedy = "run kubectl once, which renews it in the file, or use exec with kubelogin";
  const expired = await load({ "id-token": tokenUntil(nowSeconds - 1), "refresh-token": "r" });
  await expect(expired.credentials?.()).rejects.toThrow(`oidc" has an id-token that has expired; ${remedy}`);
  for (const none of [{}, { "id-token": "x" }, { "id-token": "a.e30.c" }, { "id-token": "" }])
    await expect((await load(none)).credentials?.()).rejects.toThrow(`auth-provider "oidc" has no id-token; ${remedy}`);
});

test("does not read fields that kubectl does not know", async () => {
  const secret = await file("other-token", "secret");
  const path = await file("unknown", config({ user: { "token-file": secret } }));
  expect(await loadKubeConfig({ file: path })).not.toHaveProperty("credentials");
});

test("reads a token file again when it changes, and keeps the token while the file is gone", async () => {
  const token = await file("token", "first\n");
  const path = await file("token-file", config({ user: { tokenFile: "token" } }));
  const loaded = await loadKubeConfig({ file: path });
  const current = async () => (await loaded.credentials?.())?.headers?.["authorization"];
  expect(await current()).toBe("Bearer first");
  await writeFile(token, "second");
  await utimes(token, new Date(), new Date(2_000_000_000_000));
  expect(await current()).toBe("Bearer second");
  await rm(token);
  expect(await current()).toBe("Bearer second");
});

test("merges the files of $KUBECONFIG, the first one wins, and passes over missing ones", async () => {
  const first = await file("first", config({ user: { token: "first" } }));
  const second = await file("second", config({ user: { token: "second" }, current: "other" }));
  const env = { KUBECONFIG: [join(folder, "missing"), first, second].join(delimiter) };
  const loaded = await loadKubeConfig({ env });
  expect(await loaded.credentials?.()).toEqual({ headers: { authorization: "Bearer first" } });
});

test("runs a credential plug-in once for requests that come together", async () => {
  const script = `console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential",
    status: { token: "from-plugin-" + process.pid } }))`;
  const exec = { ...execV1, command: process.execPath, args: ["-e", script] };
  const path = await file("exec", config({ user: { exec } }));
  const loaded = await loadKubeConfig({ file: path });
  const answers = await Promise.all([1, 2, 3].map(async () => loaded.credentials?.()));
  expect(answers[0]?.headers?.["authorization"]).toMatch(/^Bearer from-plugin-\d+$/);
  expect(new Set(answers.map((answer) => answer?.headers?.["authorization"])).size).toBe(1);
});

test("runs a credential plug-in beside the kubeconfig when its command is a relative path, wherever the process runs", async () => {
  await mkdir(join(folder, "elsewhere", "bin"), { recursive: true });
  const answer = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"beside"}}';
  await file("elsewhere/bin/login", `#!/bin/sh\necho '${answer}'\n`);
  await chmod(join(folder, "elsewhere", "bin", "login"), 0o755);
  for (const command of ["./bin/login", "bin/login"]) {
    const path = await file("elsewhere/exec", config({ user: { exec: { ...execV1, command } } }));
    const loaded = await loadKubeConfig({ file: path });
    expect(await loaded.credentials?.()).toEqual({ headers: { authorization: "Bearer beside" } });
  }
  const bare = await file("elsewhere/bare", config({ user: { exec: { ...execV1, command: "missing-login" } } }));
  await expect((await loadKubeConfig({ file: bare })).credentials?.()).rejects.toThrow("spawn missing-login ENOENT");
});

test("gives a credential plug-in all that the kubeconfig has of the cluster, if it is configured", async () => {
  const script = `const { cluster } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
    console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential",
      status: { token: JSON.stringify(cluster) } }))`;
  const exec = { ...execV1, command: process.execPath, args: ["-e", script], provideClusterInfo: true };
  const extensions = [
    { name: "other", extension: { a: 1 } },
    { name: "client.authentication.k8s.io/exec", extension: { audience: "dev" } },
  ];
  const cluster = {
    "certificate-authority-data": base64(pem),
    "tls-server-name": "api",
    "proxy-url": "http://127.0.0.1:3128",
    extensions,
  };
  const first = await file("exec-info", config({ cluster, user: { exec } }));
  const second = await file("exec-info-2", config({ cluster: { extensions: [] }, user: { exec } }));
  const loaded = await loadKubeConfig({ env: { ...process.env, KUBECONFIG: [first, second].join(delimiter) } });
  const token = String((await loaded.credentials?.())?.headers?.["authorization"]).replace("Bearer ", "");
  expect(JSON.parse(token)).toEqual({
    server: "https://127.0.0.1:6443",
    "tls-server-name": "api",
    "certificate-authority-data": base64(pem),
    "proxy-url": "http://127.0.0.1:3128",
    config: { audience: "dev" },
  });
});

test.each([
  [{ token: "t" }, "Bearer t"],
  [{ username: "a", password: "b" }, `Basic ${base64("a:b")}`],
])("runs no credential plug-in for a user with %j", async (user, authorization) => {
  const path = await file("exec-beside", config({ user: { ...user, exec: { ...execV1, command: "missing-login" } } }));
  const loaded = await loadKubeConfig({ file: path });
  expect(await loaded.credentials?.()).toEqual({ headers: { authorization } });
});

test("takes a user's token file from the file that the user is from", async () => {
  await mkdir(join(folder, "other"), { recursive: true });
  await file("token", "mine");
  await file("other/token", "of another user");
  const first = await file("with-token", config({ user: { token: "first" } }));
  const second = await file("other/with-file", config({ user: { tokenFile: "token" } }));
  const load = async (files: string[]) => {
    const loaded = await loadKubeConfig({ env: { KUBECONFIG: files.join(delimiter) } });
    return (await loaded.credentials?.())?.headers?.["authorization"];
  };
  expect(await load([first, second])).toBe("Bearer first");
  expect(await load([second, first])).toBe("Bearer of another user");
});

test("refuses a proxy that it cannot use, and shows no password of it", async () => {
  const path = await file("socks", config({ cluster: { "proxy-url": "socks4://me:SECRET@127.0.0.1:1080" } }));
  const message = await failure({ file: path });
  expect(message).toContain(
    'cluster "c": proxy-url is not the URL of a proxy; expected http://host:port, https://host:port or socks5://',
  );
  expect(message).not.toContain("SECRET");
});

test("names the credential plugin that failed", async () => {
  const exec = { ...execV1, command: "no-such-program-anywhere" };
  const path = await file("exec-broken", config({ user: { exec } }));
  const loaded = await loadKubeConfig({ file: path });
  await expect(loaded.credentials?.()).rejects.toThrow(/exec-broken: user "u": the credential plugin failed: .*ENOENT/);
});

test("reports an invalid kubeconfig in one line", async () => {
  const missing = join(folder, "nowhere");
  expect(await failure({ file: missing })).toBe(`kubeconfig ${missing}: the file does not exist`);
  expect(await failure({ file: await file("yaml", "a: [") })).toMatch(/^kubeconfig .*yaml: /);
  expect(await failure({ file: await file("list", "[]") })).toContain("expected a YAML mapping");
  expect(await failure({ file: await file("empty", "") })).toContain("expected one of none (the file has none)");
  expect(await failure({ file: await file("no-server", config({ cluster: { server: "" } })) })).toContain(
    'names the cluster "c", which is not under clusters, or has no server',
  );
  expect(await failure({ file: await file("server", config({ cluster: { server: "localhost:8080" } })) })).toContain(
    'cluster "c": server "localhost:8080" is not a URL; expected https://host:port',
  );
  expect(await failure({ file: await file("current", config({ current: "" })) })).toContain(
    'current-context is not set; expected one of "dev"',
  );
  expect(await failure({ file: await file("context", config()), context: "prod" })).toContain(
    'context "prod" does not exist; expected one of "dev"',
  );
  expect(await failure({ file: await file("cluster", config({ context: { cluster: "x" } })) })).toContain(
    'context "dev" names the cluster "x", which is not under clusters',
  );
  expect(await failure({ file: await file("user", config({ context: { user: "x" } })) })).toContain(
    'context "dev" names the user "x", which is not under users',
  );
});

test("reports an invalid certificate in one line", async () => {
  const unreadable = config({ cluster: { "certificate-authority": "missing.crt" } });
  expect(await failure({ file: await file("ca-missing", unreadable) })).toMatch(
    /cluster "c": certificate-authority: cannot read .*missing\.crt: ENOENT/,
  );
  const nonsense = config({ cluster: { "certificate-authority-data": "bm9uc2Vuc2U=" } });
  expect(await failure({ file: await file("ca-bad", nonsense) })).toContain(
    'cluster "c": certificate-authority-data is not a PEM block in base64',
  );
  const half = config({ user: { "client-certificate-data": base64(pem) } });
  expect(await failure({ file: await file("half", half) })).toContain(
    "client-certificate and client-key must be set together",
  );
});

test("fails when the service account is requested outside of a pod", async () => {
  expect(await failure({ inCluster: true, env: {} })).toContain("KUBERNETES_SERVICE_HOST");
  const env = { KUBERNETES_SERVICE_HOST: "::1", KUBERNETES_SERVICE_PORT: "443" };
  expect(await failure({ inCluster: true, env })).toMatch(/^in-cluster configuration: cannot read/);
});

test("names the searched places when there is no kubeconfig", async () => {
  expect(await failure({ env: { HOME: folder } })).toContain("expected a file in --kubeconfig, in $KUBECONFIG");
});

test("takes another cluster or user of the file, and acts as another user, as kubectl's flags do", async () => {
  const path = await file(
    "selection",
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "dev",
      clusters: ["c", "d"].map((name) => ({ name, cluster: { server: `https://${name}:6443` } })),
      users: [
        { name: "u", user: { token: "t", as: "boss", "as-uid": "7", "as-groups": ["old"] } },
        { name: "v", user: { token: "w" } },
        { name: "x", user: { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "true" } } },
      ],
      contexts: [{ name: "dev", context: { cluster: "c", user: "u", namespace: "n" } }],
    }),
  );
  const of = async (options: LoadKubeConfigOptions): Promise<unknown> => {
    const { server, namespace, credentials, requestTimeoutMs } = await loadKubeConfig({ file: path, ...options });
    return [server, namespace, (await credentials?.())?.headers, requestTimeoutMs];
  };
  const token = { authorization: "Bearer t" };
  const boss = { "impersonate-user": "boss", "impersonate-uid": "7", "impersonate-group": ["old"] };
  expect(await of({})).toEqual(["https://c:6443", "n", { ...token, ...boss }, undefined]);
  expect(await of({ cluster: "d", user: "v", requestTimeoutMs: 5 })).toEqual([
    "https://d:6443",
    "n",
    { authorization: "Bearer w" },
    5,
  ]);
  const impersonate = { user: "jane", groups: ["a", "b"] };
  const jane = { "impersonate-user": "jane", "impersonate-group": ["a", "b"] };
  expect(await of({ impersonate })).toEqual(["https://c:6443", "n", { ...token, ...jane }, undefined]);
  expect(await failure({ file: path, user: "y" })).toContain('user "y" does not exist; expected one of "u", "v", "x"');
  expect(await failure({ file: path, cluster: "y" })).toContain('cluster "y" does not exist; expected one of "c", "d"');
});

test("needs neither a context nor a user where flags name a cluster and a user to act as", async () => {
  const path = await file("no-context", config({ current: "" }));
  const loaded = await loadKubeConfig({ file: path, cluster: "c", impersonate: { user: "jane" } });
  expect(loaded.server).toBe("https://127.0.0.1:6443");
  expect((await loaded.credentials?.())?.headers).toEqual({ "impersonate-user": "jane" });
});
