import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveAutoscaler } from "@millwright/autoscaler-grpc";
import { systemClock, systemRandom } from "@millwright/base";
import { defineDriver } from "@millwright/core";
import { connectDriver, serveDriver, type TlsFiles } from "@millwright/driver-rpc";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { connectAutoscaler } from "../../packages/autoscaler-grpc/src/testing/served-fleet.ts";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";
import { eventually } from "../harness/eventually.ts";
import { kubeconfigOf } from "../harness/kubeconfig.ts";
import { startMillwright } from "../harness/millwright.ts";
import { mountSecret } from "../harness/mounted-secret.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-renewal-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const hourMs = 3_600_000;
const daysAgo = (days: number): Date => new Date(systemClock.now().getTime() - days * 24 * hourMs);
const createExpired = () => createCertificateChain({ notBefore: daysAgo(91), notAfter: daysAgo(1) });

type Presented = Pick<CertificateChain, "presented" | "key">;

/** A mounted Secret of TLS. `own` is presented; `trusted` are the authorities of the other side. */
async function mountTls(name: string, own: Presented, trusted: string) {
  const filesOf = ({ presented, key }: Presented, ca: string) => ({
    "ca.crt": ca,
    "tls.crt": presented,
    "tls.key": key,
  });
  const mount = join(folder, name);
  await mkdir(mount);
  const { pathOf, replace } = await mountSecret(mount, filesOf(own, trusted));
  const files: TlsFiles = { ca: pathOf("ca.crt"), cert: pathOf("tls.crt"), key: pathOf("tls.key") };
  return { files, replace: (other: Presented, ca: string) => replace(filesOf(other, ca)) };
}

it("both processes use renewed files for new connections, also when the former ones have expired", async () => {
  const [oldServer, oldClient] = await Promise.all([createExpired(), createExpired()]);
  const server = await mountTls("server", oldServer, oldClient.root);
  const client = await mountTls("client", oldClient, oldServer.root);

  const { ca, cert, key } = server.files;
  const tls = [`--tls-cert=${cert}`, `--tls-key=${key}`, `--tls-client-ca=${ca}`];
  const serve = startMillwright(["driver", "serve", "mock", "--listen=grpcs://localhost:0", ...tls]);
  onTestFinished(async () => void (await serve.stop("SIGKILL")));
  const [, address = ""] = await serve.waitFor(/"address":"(grpcs:[^"]*)"/);

  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(kubeconfigOf({ server: "http://127.0.0.1:9" })));
  const own = Object.entries(client.files).map(([part, file]) => `--provider-tls-${part}=${file}`);
  const run = startMillwright(["run", `--provider=${address}`, ...own, `--control-kubeconfig=${kubeconfig}`]);
  onTestFinished(async () => void (await run.stop("SIGKILL")));
  await run.waitFor(/Waiting for a driver|A driver cannot be used/);
  expect(run.output()).toContain("the certificate of the server or of its authority has expired; renew it");

  const [newServer, newClient] = await Promise.all([createCertificateChain(), createCertificateChain()]);
  await server.replace(newServer, newClient.root);
  await client.replace(newClient, newServer.root);
  await run.waitFor(/Driver is loaded/);
});

/** A log that keeps its lines. */
function recordLines() {
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const log = (_level: unknown, message: string, fields?: unknown): void => void lines.push({ message, fields });
  return { log, lines };
}

const driver = defineDriver<unknown>({
  name: "example",
  spec: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
  createMachine: () => Promise.reject(new Error("unused")),
  deleteMachine: () => Promise.reject(new Error("unused")),
  getMachineStatus: () => Promise.reject(new Error("unused")),
});

describe("files that cannot be used", () => {
  /** What is presented and trusted then, and the beginning of the message. */
  type Change = (own: CertificateChain, other: CertificateChain, files: TlsFiles) => [CertificateChain, string, string];
  it.each<[string, Change]>([
    [
      "a certificate whose key is missing",
      (own, other, { cert, key }) => [
        { ...other, key: own.key },
        own.root,
        `the key ${key} does not belong to the certificate ${cert}`,
      ],
    ],
    ["a bundle that is cut off", (own, _, { ca }) => [own, own.root.slice(0, 300), `${ca}: a certificate is cut off`]],
    ["an empty bundle", (own, _, { ca }) => [own, "", `${ca}: no certificate`]],
  ])("such as %s leave the former ones in use, with one warning that names them", async (_, change) => {
    const [own, other] = await Promise.all([createCertificateChain(), createCertificateChain()]);
    const secret = await mountTls("tls", own, own.root);
    const { log, lines } = recordLines();
    const server = await serveDriver(driver, "grpcs://127.0.0.1:0", { tls: secret.files, log });
    onTestFinished(() => server.close());
    const fixed = await mountTls("client", own, own.root);
    const connect = async () => (await connectDriver(server.address, { tls: fixed.files })).close();
    const [presented, trusted, message] = change(own, other, secret.files);
    await secret.replace(presented, trusted);
    await connect();
    await connect();
    expect(lines).toEqual([
      {
        message: "Files of TLS cannot be used; new connections use their former content",
        fields: { error: expect.stringContaining(message) },
      },
    ]);
  });
});

describe("a client of the autoscaler's endpoint", () => {
  it("is trusted by any certificate of the bundle as in Go, and one that is rejected is reported once", async () => {
    const [own, client, other] = await Promise.all([
      createCertificateChain(),
      createCertificateChain(),
      createCertificateChain(),
    ]);
    const secret = await mountTls("tls", own, client.intermediate);
    const { log, lines } = recordLines();
    const served = await serveAutoscaler({
      address: "127.0.0.1",
      port: 0,
      tls: { ...secret.files, clientCa: secret.files.ca },
      fleets: [],
      ready: () => Promise.resolve(),
      control: { get: () => Promise.reject(new Error("unused")), patch: () => Promise.reject(new Error("unused")) },
      clock: systemClock,
      random: systemRandom,
      log,
    });
    onTestFinished(() => served.close());
    const call = async ({ server, key }: Pick<CertificateChain, "server" | "key">) => {
      const autoscaler = connectAutoscaler(`127.0.0.1:${served.port}`, { ca: own.root, cert: server, key });
      return autoscaler.call("NodeGroups", {}).finally(() => autoscaler.close());
    };
    await eventually(async () => expect(await call(client)).toEqual({ nodeGroups: [] }));
    const rejections = () => lines.filter(({ message }) => message === "A client was rejected");
    expect(rejections()).toEqual([]);
    await expect(call(other)).rejects.toMatchObject({ code: 14 });
    await expect(call(other)).rejects.toMatchObject({ code: 14 });
    const because = `no authority of ${secret.files.ca} has signed its certificate; add that of its authority to the file, or issue another`;
    expect(rejections()).toEqual([{ message: "A client was rejected", fields: { peer: "127.0.0.1", because } }]);
  });
});
