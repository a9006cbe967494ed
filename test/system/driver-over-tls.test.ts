import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { selfSignedCertificate } from "@millwright/emulators/server";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { startMillwright } from "../harness/millwright.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "driver-over-tls-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes a certificate that is its own authority. */
async function certificate(name: string): Promise<{ readonly cert: string; readonly key: string }> {
  const { cert, key } = selfSignedCertificate(systemClock.now());
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  return files;
}

it("a driver is served over TLS to clients whose certificate its authority has signed, and to no others", async () => {
  const [server, client, stranger] = await Promise.all(["server", "client", "stranger"].map(certificate));
  if (server === undefined || client === undefined || stranger === undefined) throw new Error("no certificates");
  const tls = [`--tls-cert=${server.cert}`, `--tls-key=${server.key}`, `--tls-client-ca=${client.cert}`];
  const serve = startMillwright(["driver", "serve", "mock", "--listen=grpcs://localhost:0", ...tls]);
  onTestFinished(async () => void (await serve.stop("SIGKILL")));
  const [, address = ""] = await serve.waitFor(/"address":"(grpcs:[^"]*)"/, 120_000);

  await writeFile(join(folder, "class.yaml"), '{ "kind": "MachineClass", "providerSpec": { "machineType": "small" } }');
  await writeFile(
    join(folder, "secret.yaml"),
    '{ "kind": "Secret", "stringData": { "endpoint": "http://127.0.0.1:9" } }',
  );
  const manifests = [`--class=${join(folder, "class.yaml")}`, `--secret=${join(folder, "secret.yaml")}`];
  const check = async (...flags: readonly string[]) => {
    const only = ["--only", "driver.handshake", "spec.required-fields"];
    const command = startMillwright(["conformance", `--provider=${address}`, ...manifests, ...only, ...flags]);
    return { code: await command.ended, output: command.output() };
  };
  const flagsOf = (own: { readonly cert: string; readonly key: string }, ca: string): readonly string[] => [
    `--provider-tls-cert=${own.cert}`,
    `--provider-tls-key=${own.key}`,
    `--provider-tls-ca=${ca}`,
  ];
  const trusted = await check(...flagsOf(client, server.cert));
  expect(trusted.output).toMatch(/driver\.handshake/);
  expect(trusted.output).not.toMatch(/failed +driver\.handshake|failed +spec/i);
  const rejected = [
    [flagsOf(stranger, server.cert), /no driver can be reached there: /],
    [
      flagsOf(client, stranger.cert),
      /no driver can be reached there: .*no authority of \S*stranger\.pem has signed the certificate of the server; add [^;]* there/,
    ],
    [[], /grpcs:\/\/ requires files of TLS/],
    [[`--provider-tls-cert=${client.cert}`], /use all of them, or none/],
  ] as const;
  for (const [flags, message] of rejected) {
    const { code, output } = await check(...flags);
    expect(code, output).toBe(2);
    expect(output).toMatch(message);
    expect(output.trimEnd().split("\n"), output).toHaveLength(1);
  }
});
