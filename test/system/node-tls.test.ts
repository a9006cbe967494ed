import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type ConnectionOptions, createSecureContext, type TLSSocket } from "node:tls";
import { systemClock } from "@millwright/base";
import { createTlsServer, followingContext, type TlsFiles } from "@millwright/core/tls";
import { serveDriver } from "@millwright/driver-rpc";
import { createMockDriver } from "@millwright/provider-mock";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";

let chain: CertificateChain;
beforeAll(async () => {
  chain = await createCertificateChain();
});

/** Files whose bundle has the intermediate authority alone. */
async function tlsFiles(): Promise<TlsFiles> {
  const folder = await mkdtemp(join(tmpdir(), "node-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = { ca: join(folder, "ca"), cert: join(folder, "cert"), key: join(folder, "key") };
  await writeFile(files.ca, chain.intermediate);
  await writeFile(files.cert, chain.presented);
  await writeFile(files.key, chain.key);
  return files;
}

/** A server of ours, and the connections whose clients it has verified. */
async function aServer(options: { readonly handshakeMs?: number } = {}) {
  const verified: TLSSocket[] = [];
  const log = vi.fn<(level: "warn", message: string, fields: object) => void>();
  const server = createTlsServer(await tlsFiles(), (socket) => verified.push(socket), {
    clock: systemClock,
    log,
    ...options,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of verified) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, verified, log };
}

const connectWith = (port: number, options: ConnectionOptions): TLSSocket => {
  const socket = connect({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], ca: chain.root, ...options });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
};

/** Each fails on a Node that does not have what it names: see packages/base/src/tls/node-internals.ts. */
describe("what is used of Node's TLS beside its public API", () => {
  it("_sharedCreds of a server: clients whose authority is an intermediate one in the bundle are accepted", async () => {
    const { port, verified } = await aServer();
    connectWith(port, { cert: chain.server, key: chain.key });
    await expect.poll(() => verified.length).toBe(1);
  });

  it("_parent of a socket: the address of a rejected client is known", async () => {
    const { port, log } = await aServer();
    connectWith(port, {});
    await expect.poll(() => log.mock.calls[0]).toMatchObject(["warn", "A client was rejected", { peer: "127.0.0.1" }]);
  });

  it("the field context of a context: a client uses the current one for each new connection", async () => {
    const { port, verified } = await aServer();
    const contexts = [createSecureContext({ ca: chain.root, cert: chain.server, key: chain.key })];
    const secureContext = followingContext(() => contexts.at(-1) ?? createSecureContext());
    connectWith(port, { secureContext });
    await expect.poll(() => verified.length).toBe(1);
    contexts.push(createSecureContext());
    await expect(once(connectWith(port, { secureContext }), "secureConnect")).rejects.toThrow("issuer certificate");
  });
});

it("a client that sends nothing is disconnected", async () => {
  const { port } = await aServer({ handshakeMs: 50 });
  const silent = connectTcp(port, "127.0.0.1");
  silent.on("error", () => undefined);
  await once(silent, "close");
  expect(silent.destroyed).toBe(true);
});

/** What the system returns where it has no IPv6. */
const EAFNOSUPPORT = -97;

it("a driver listens on all addresses of a host without IPv6", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const handle = Object.getPrototypeOf(Reflect.get(probe, "_handle")) as { bind6: () => number };
  probe.close();
  const bind6 = vi.spyOn(handle, "bind6").mockReturnValue(EAFNOSUPPORT);
  onTestFinished(() => bind6.mockRestore());
  const server = await serveDriver(createMockDriver(), "grpcs://[::]:0", { tls: await tlsFiles() });
  onTestFinished(() => server.close());
  expect(bind6).toHaveBeenCalled();
  const port = Number(/:(\d+)$/.exec(server.address)?.[1]);
  const socket = connectWith(port, { cert: chain.server, key: chain.key });
  await once(socket, "secureConnect");
  expect(socket.authorized).toBe(true);
});
