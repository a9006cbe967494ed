import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";
import { createKubectl } from "../harness/foreign-tools.ts";
import { base64, kubeconfigOf } from "../harness/kubeconfig.ts";

interface Entry {
  readonly name?: unknown;
  readonly [key: string]: unknown;
}

/** A kubeconfig that works. */
interface Content {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly "current-context"?: unknown;
  readonly clusters?: unknown;
  readonly users?: unknown;
  readonly contexts?: unknown;
  readonly [key: string]: unknown;
}

/** Kubeconfigs as people have them, beside kubectl: where it works, we send the same with the same file; where it refuses, we do in one line. */
describe("a kubeconfig", () => {
  let folder = "";
  let chain: CertificateChain;
  let server: Server;
  let tests = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-kubeconfigs-"));
    chain = await createCertificateChain();
    server = createServer({ key: chain.key, cert: chain.presented }, ({ headers, url }, response) => {
      response.setHeader("content-type", "application/json");
      const { authorization = "", "impersonate-user": as = "" } = headers;
      response.end(JSON.stringify({ url, authorization, as }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const address = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clusterWith = (more: object = {}): object => ({
    server: `https://${address()}`,
    "certificate-authority-data": base64(chain.root),
    ...more,
  });
  const content = (change: Content = {}, user: object = { token: "t" }, cluster: object = {}): Content => ({
    ...kubeconfigOf(clusterWith(cluster), user),
    ...change,
  });
  const file = async (text: string | Buffer, name = "config"): Promise<string> => {
    const path = join(folder, String(++tests));
    await mkdir(path, { recursive: true });
    await writeFile(join(path, name), text);
    return join(path, name);
  };
  const withEntry = (list: "clusters" | "users" | "contexts", ...entries: readonly unknown[]): Content => {
    const whole = content();
    return { ...whole, [list]: [...((whole[list] as readonly Entry[]) ?? []), ...entries] };
  };
  const yaml = (value: Content): string => stringify(value);

  /** What the server saw of a request; or `refused`, with the message. */
  const byKubectl = async (paths: string) => {
    const kubectl = await createKubectl(paths);
    const { code, stdout, stderr } = await kubectl.attempt(["get", "--raw", "/version"]);
    return code === 0 ? { seen: JSON.parse(stdout) as unknown } : { refused: stderr };
  };
  const byUs = async (paths: string) => {
    try {
      const config = await loadKubeConfig({ env: { KUBECONFIG: paths, HOME: folder, PATH: process.env["PATH"] } });
      const api = createApiClient(config);
      try {
        return { seen: (await api.request({ method: "GET", path: "/version" })).body };
      } finally {
        await api.close();
      }
    } catch (error) {
      return { refused: error instanceof Error ? error.message : String(error) };
    }
  };

  const execOf = (token: string, version = "v1"): object => {
    const apiVersion = `client.authentication.k8s.io/${version}`;
    const answer = JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token } });
    return { apiVersion, command: "echo", args: [answer] };
  };
  const oidcUntil = (seconds: number): object => {
    const claims = Buffer.from(JSON.stringify({ exp: Math.floor(seconds) })).toString("base64url");
    const config = { "id-token": `e30.${claims}.c2ln`, "client-id": "c", "idp-issuer-url": `https://${address()}` };
    return { "auth-provider": { name: "oidc", config } };
  };
  const bom = "\u{FEFF}";
  const utf16 = (text: string): Buffer => Buffer.from(`${bom}${text}`, "utf16le");
  const cases: readonly (readonly [string, () => Promise<string>])[] = [
    ["as kubectl writes it", () => file(yaml(content()))],
    ["in JSON", () => file(JSON.stringify(content()))],
    ["with CRLF", () => file(yaml(content()).replaceAll("\n", "\r\n"))],
    ["in UTF-8 with a BOM", () => file(bom + yaml(content()))],
    ["in UTF-16 with a BOM", () => file(utf16(yaml(content())))],
    ["in UTF-16 without a BOM", () => file(Buffer.from(yaml(content()), "utf16le"))],
    ["with a --- at its end", () => file(`${yaml(content())}---\n`)],
    ["with a --- at its start", () => file(`---\n${yaml(content())}`)],
    ["with ... at its end", () => file(`${yaml(content())}...\n`)],
    ["of two documents", () => file(`${yaml(content())}---\n${yaml(content({}, { token: "other" }))}`)],
    ["of an empty document and another one", () => file(`---\n---\n${yaml(content())}`)],
    ["with a duplicate key", () => file(`${yaml(content())}current-context: y\n`)],
    ["with a duplicate key of a user", () => file(yaml(content()).replace("token: t", "token: t\n      token: s"))],
    ["with a tab", () => file(`${yaml(content())}preferences:\n\tcolors: true\n`)],
    ["with a comment", () => file(`# mine\n${yaml(content())}`)],
    ["without apiVersion and kind", () => file(yaml(content({ apiVersion: undefined, kind: undefined })))],
    ["of another version", () => file(yaml(content({ apiVersion: "v2" })))],
    ["of another kind", () => file(yaml(content({ kind: "Secret" })))],
    ["with fields of other programs", () => file(yaml(content({ extra: { a: 1 }, preferences: {} })))],
    ["with an anchor", () => file(yaml(content()).replace("token: t", "token: &a t\n      username: *a"))],
    ["with a merge key", () => file(yaml(content()).replace("      token: t", "      <<: {token: t}"))],
    ["with a token that is a number", () => file(yaml(content({}, { token: 123 })))],
    ["with a quoted number as token", () => file(yaml(content({}, { token: "123" })))],
    ["with a token that is a boolean", () => file(yaml(content()).replace("token: t", "token: yes"))],
    ["with an empty token", () => file(yaml(content({}, { token: "" })))],
    ["with a token and a line end", () => file(yaml(content({}, { token: "t\n" })))],
    ["with a token that is null", () => file(yaml(content()).replace("token: t", "token:"))],
    ["with a password", () => file(yaml(content({}, { username: "me", password: "secret" })))],
    ["with a password that is a number", () => file(yaml(content({}, { username: "me", password: 123 })))],
    ["with a token and a password", () => file(yaml(content({}, { token: "t", username: "me", password: "p" })))],
    [
      "with a token file",
      async () => {
        const path = await file("from file\n".replace(" ", "-"), "token");
        tests--;
        return file(yaml(content({}, { tokenFile: path })));
      },
    ],
    [
      "with a relative token file",
      async () => {
        await file("relative", "token");
        tests--;
        return file(yaml(content({}, { tokenFile: "token" })));
      },
    ],
    [
      "with a token file beside a token",
      async () => {
        await file("relative", "token");
        tests--;
        return file(yaml(content({}, { tokenFile: "token", token: "t" })));
      },
    ],
    ["with a token file that is missing", () => file(yaml(content({}, { tokenFile: "none" })))],
    [
      "with a token file that is missing, beside a token",
      () => file(yaml(content({}, { tokenFile: "none", token: "t" }))),
    ],
    [
      "with a token file that is empty",
      async () => {
        await file("", "token");
        tests--;
        return file(yaml(content({}, { tokenFile: "token" })));
      },
    ],
    ["with a user who impersonates", () => file(yaml(content({}, { token: "t", as: "jane" })))],
    ["with groups to impersonate, but no user", () => file(yaml(content({}, { token: "t", "as-groups": ["a"] })))],
    ["without users", () => file(yaml(content({ users: undefined })))],
    ["with users: null", () => file(yaml(content({ users: null })))],
    [
      "with users: null and none in the context",
      () => file(yaml(content({ users: null, contexts: [{ name: "x", context: { cluster: "c" } }] }))),
    ],
    ["with users: {}", () => file(yaml(content({ users: {} })))],
    ["with user: null", () => file(yaml(content({ users: [{ name: "u", user: null }] })))],
    ["with a user without anything", () => file(yaml(content({ users: [{ name: "u" }] })))],
    ["with a null among its users", () => file(yaml(withEntry("users", null)))],
    ["with a text among its users", () => file(yaml(withEntry("users", "me")))],
    ["with another user without a name", () => file(yaml(withEntry("users", { user: { token: "s" } })))],
    ["with another user whose name is a number", () => file(yaml(withEntry("users", { name: 1, user: {} })))],
    [
      "with another user whose token is a number",
      () => file(yaml(withEntry("users", { name: "v", user: { token: 1 } }))),
    ],
    ["with another user whose exec is empty", () => file(yaml(withEntry("users", { name: "v", user: { exec: {} } })))],
    [
      "with another user whose exec is a text",
      () => file(yaml(withEntry("users", { name: "v", user: { exec: "a" } }))),
    ],
    [
      "with another user whose certificate is missing",
      () => file(yaml(withEntry("users", { name: "v", user: { "client-certificate": "none", "client-key": "none" } }))),
    ],
    [
      "with another user whose certificate is no base64",
      () => file(yaml(withEntry("users", { name: "v", user: { "client-certificate-data": "%" } }))),
    ],
    ["with two users of one name", () => file(yaml(withEntry("users", { name: "u", user: { token: "second" } })))],
    ["with another cluster without a server", () => file(yaml(withEntry("clusters", { name: "d", cluster: {} })))],
    ["with another cluster without anything", () => file(yaml(withEntry("clusters", { name: "d" })))],
    [
      "with another cluster whose server is a number",
      () => file(yaml(withEntry("clusters", { name: "d", cluster: { server: 1 } }))),
    ],
    [
      "with another cluster whose authority is no base64",
      () =>
        file(
          yaml(
            withEntry("clusters", { name: "d", cluster: { server: "https://d", "certificate-authority-data": "%" } }),
          ),
        ),
    ],
    [
      "with two clusters of one name",
      () => file(yaml(withEntry("clusters", { name: "c", cluster: { server: "https://127.0.0.1:1" } }))),
    ],
    ["with another context without a cluster", () => file(yaml(withEntry("contexts", { name: "y", context: {} })))],
    ["with another context without anything", () => file(yaml(withEntry("contexts", { name: "y" })))],
    [
      "with a namespace that is a number",
      () => file(yaml(content({ contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: 1 } }] }))),
    ],
    ["with a current context that is missing", () => file(yaml(content({ "current-context": "none" })))],
    [
      "with a user that is missing",
      () => file(yaml(content({ contexts: [{ name: "x", context: { cluster: "c", user: "none" } }] }))),
    ],
    [
      "with a cluster that is missing",
      () => file(yaml(content({ contexts: [{ name: "x", context: { cluster: "none", user: "u" } }] }))),
    ],
    ["with a server without https://", () => file(yaml(content({}, { token: "t" }, { server: address() })))],
    [
      "with a server with a path",
      () => file(yaml(content({}, { token: "t" }, { server: `https://${address()}/a/b/` }))),
    ],
    [
      "with a server with a line end",
      () => file(yaml(content({}, { token: "t" }, { server: `https://${address()}\n` }))),
    ],
    [
      "with an authority and insecure-skip-tls-verify",
      () => file(yaml(content({}, { token: "t" }, { "insecure-skip-tls-verify": true }))),
    ],
    [
      "with insecure-skip-tls-verify",
      () =>
        file(
          yaml(
            content({}, { token: "t" }, { "insecure-skip-tls-verify": true, "certificate-authority-data": undefined }),
          ),
        ),
    ],
    [
      "with insecure-skip-tls-verify as a text",
      () => file(yaml(content({}, { token: "t" }, { "insecure-skip-tls-verify": "true" }))),
    ],
    [
      "with an authority that is no base64",
      () => file(yaml(content({}, { token: "t" }, { "certificate-authority-data": "%%%" }))),
    ],
    [
      "with an authority that is no certificate",
      () => file(yaml(content({}, { token: "t" }, { "certificate-authority-data": base64("x") }))),
    ],
    [
      "with an authority in lines",
      () =>
        file(
          yaml(content()).replace(
            /certificate-authority-data: \S+/,
            `certificate-authority-data: |\n        ${(base64(chain.root).match(/.{1,64}/g) ?? []).join("\n        ")}`,
          ),
        ),
    ],
    [
      "with a relative authority",
      async () => {
        await file(chain.root, "ca.crt");
        tests--;
        return file(
          yaml(
            content({}, { token: "t" }, { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" }),
          ),
        );
      },
    ],
    [
      "with a certificate without a key",
      () => file(yaml(content({}, { "client-certificate-data": base64(chain.presented) }))),
    ],
    [
      "with a certificate as data and as a file",
      () =>
        file(
          yaml(
            content({}, { "client-certificate": "a", "client-certificate-data": "YQ==", "client-key-data": "YQ==" }),
          ),
        ),
    ],
    [
      "with an authority as data and as a file",
      () => file(yaml(content({}, { token: "t" }, { "certificate-authority": "none" }))),
    ],
    [
      "with an exec entry without a command",
      () => file(yaml(content({}, { exec: { apiVersion: "client.authentication.k8s.io/v1" } }))),
    ],
    [
      "with an exec entry without interactiveMode",
      () => file(yaml(content({}, { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "true" } }))),
    ],
    [
      "with an exec entry that answers",
      () => file(yaml(content({}, { exec: { ...execOf("token-of-a-program"), interactiveMode: "Never" } }))),
    ],
    [
      "with an exec entry beside a token",
      () => file(yaml(content({}, { token: "t", exec: { ...execOf("other"), interactiveMode: "Never" } }))),
    ],
    ["with an exec entry of an old version", () => file(yaml(content({}, { exec: { ...execOf("old", "v1beta1") } })))],
    [
      "with an exec entry that answers, without apiVersion",
      () => file(yaml(content({}, { exec: { ...execOf("t"), apiVersion: undefined, interactiveMode: "Never" } }))),
    ],
    [
      "with an exec entry that answers, without interactiveMode",
      () => file(yaml(content({}, { exec: execOf("without-mode") }))),
    ],
    [
      "with an exec entry that needs a terminal",
      () => file(yaml(content({}, { exec: { ...execOf("always"), interactiveMode: "Always" } }))),
    ],
    [
      "with an exec entry of a removed version",
      () => file(yaml(content({}, { exec: { ...execOf("older", "v1alpha1") } }))),
    ],
    [
      "with an exec entry that fails",
      () => file(yaml(content({}, { exec: { ...execOf("x"), command: "false", args: [], interactiveMode: "Never" } }))),
    ],
    [
      "with an exec entry that is missing",
      () => file(yaml(content({}, { exec: { ...execOf("x"), command: "no-such-program", interactiveMode: "Never" } }))),
    ],
    ["with an id-token that is valid", () => file(yaml(content({}, oidcUntil(Date.now() / 1_000 + 3_600))))],
    ["with an id-token that has expired", () => file(yaml(content({}, oidcUntil(Date.now() / 1_000 - 3_600))))],
    ["with an exec entry without apiVersion", () => file(yaml(content({}, { exec: { command: "true" } })))],
    ["with an unknown auth-provider", () => file(yaml(content({}, { "auth-provider": { name: "cloudy" } })))],
    [
      "with a token beside an auth-provider",
      () => file(yaml(content({}, { token: "t", "auth-provider": { name: "oidc", config: {} } }))),
    ],
    ["that is empty", () => file("")],
    ["that is a list", () => file("[]\n")],
    ["that is a text", () => file("hello\n")],
    ["that is no YAML", () => file("a: [\n")],
    ["that does not exist", async () => join(folder, "missing")],
    ["that is a folder", async () => folder],
    ["in a list with an empty file before", async () => [await file(""), await file(yaml(content()))].join(delimiter)],
    ["in a list with an empty file behind", async () => [await file(yaml(content())), await file("")].join(delimiter)],
    [
      "in a list with a missing file",
      async () => [join(folder, "missing"), await file(yaml(content()))].join(delimiter),
    ],
    ["in a list with a broken file", async () => [await file("a: [\n"), await file(yaml(content()))].join(delimiter)],
    ["in a list with empty names", async () => `${delimiter}${await file(yaml(content()))}${delimiter}`],
    ["in a list of missing files", async () => [join(folder, "a"), join(folder, "b")].join(delimiter)],
    [
      "in a list twice",
      async () => {
        const path = await file(yaml(content()));
        return [path, path].join(delimiter);
      },
    ],
    [
      "in parts",
      async () =>
        [
          await file(yaml({ "current-context": "x", contexts: content().contexts })),
          await file(yaml({ clusters: content().clusters })),
          await file(yaml({ "current-context": "other", users: content().users })),
        ].join(delimiter),
    ],
    [
      "in a list, with another user of the name in a later one",
      async () => [await file(yaml(content())), await file(yaml(content({}, { token: "later" })))].join(delimiter),
    ],
  ];

  const asSent = (authorization: string) => ({ url: "/version", authorization, as: "" });
  /** kubectl asks for a name and a password at the terminal then. A client without a user may be one of a proxy that has credentials. */
  const asked = { theirs: /^error: EOF/, seen: asSent("") };
  /** Editors add line ends. They cannot be part of a token or an address. */
  const trimmed = { theirs: /^Unable to connect to the server: net\//, seen: asSent("Bearer t") };
  const differences = new Map([
    ["with an empty token", asked],
    ["with a token that is null", asked],
    ["with users: null and none in the context", asked],
    ["with user: null", asked],
    ["with a user without anything", asked],
    ["with a token and a line end", trimmed],
    ["with a server with a line end", trimmed],
  ]);

  it.each(cases)("%s is used as by kubectl", async (name, paths) => {
    const list = await paths();
    const [theirs, ours] = [await byKubectl(list), await byUs(list)];
    const difference = differences.get(name);
    expect(theirs.refused ?? "").toMatch(difference?.theirs ?? /^/);
    const expected = difference?.seen ?? theirs.seen;
    expect(ours.seen).toEqual(expected);
    expect(ours.refused ?? "").toMatch(expected === undefined ? /^(?:kubeconfig|no kubeconfig)[^\n]+$/ : /^$/);
  });

  it("of client-node, as an object of the program, is used like a file", async () => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(await file(yaml(content({}, { username: "me", password: "secret" }))));
    const api = createApiClient(await loadKubeConfig({ content: kubeConfig.exportConfig() }));
    const { body } = await api.request({ method: "GET", path: "/version" });
    await api.close();
    expect(body).toMatchObject({ authorization: `Basic ${Buffer.from("me:secret").toString("base64")}` });
  });
});
