import { createServer, type RequestListener, request } from "node:http";
import { createServer as createTcpServer, connect, type Server } from "node:net";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { type RecordingProxyOptions, startRecordingProxy } from "../testing/recording-proxy.ts";
import { createEgressAgents } from "./egress-agents.ts";

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server that responds with `hello`, under a name that cannot be resolved: only a proxy that forwards it finds it. */
async function aHost() {
  const hello: RequestListener = (_, response) => void response.end("hello");
  return { name: "cloud.invalid", port: await listen(createServer(hello)) };
}

async function aProxy(options: RecordingProxyOptions) {
  const proxy = await startRecordingProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Sends a request with agents that read this environment. */
function get(url: string, env: Readonly<Record<string, string>>): Promise<string> {
  const agents = createEgressAgents({ keepAlive: true }, env);
  onTestFinished(() => agents.destroy());
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: agents.http }, (response) => {
      response.setEncoding("utf8").on("data", resolve).on("error", reject);
    });
    sent.on("error", reject).end();
  });
}

/** What a request fails with. */
const failureOf = (url: string, env: Readonly<Record<string, string>>): Promise<unknown> =>
  get(url, env).catch((error: unknown) => error);

test("sends requests through the proxy of the environment, with its user and password", async () => {
  const { name, port } = await aHost();
  const proxy = await aProxy({ credentials: "me:s@cret", forward: () => `127.0.0.1:${port}` });
  const url = `http://me:s%40cret@${new URL(proxy.url).host}`;
  expect(await get(`http://${name}/`, { HTTP_PROXY: url })).toBe("hello");
  expect(proxy.tunnels.map(({ target }) => target)).toEqual([`${name}:80`]);
});

test("sends what NO_PROXY names without the proxy", async () => {
  const { port } = await aHost();
  const proxy = await aProxy({});
  // Go takes 0.0.0.0 for no loopback address, and Linux connects to this machine.
  const env = { HTTP_PROXY: proxy.url };
  expect(await get(`http://0.0.0.0:${port}/`, env)).toBe("hello");
  expect(proxy.tunnels).toHaveLength(1);
  expect(await get(`http://0.0.0.0:${port}/`, { ...env, NO_PROXY: "0.0.0.0" })).toBe("hello");
  expect(await get(`http://127.0.0.1:${port}/`, env)).toBe("hello");
  expect(proxy.tunnels).toHaveLength(1);
});

test.each([
  [407, "responded with 407 to CONNECT cloud.invalid:80: check the user and the password"],
  [403, "responded with 403 to CONNECT cloud.invalid:80: the proxy does not allow this destination"],
  [502, "responded with 502 to CONNECT cloud.invalid:80: the destination is unreachable"],
])("names the proxy that answers %s, without its password", async (refuse, text) => {
  const { host } = new URL((await aProxy({ refuse })).url);
  const error = await failureOf("http://cloud.invalid/", { HTTP_PROXY: `http://me:password@${host}` });
  expect(error).toMatchObject({ code: "EPROXY" });
  expect(String(error)).toContain(`proxy http://${host} ${text}`);
  expect(String(error)).not.toContain("password@");
});

test("names the proxy that is not there, without its password", async () => {
  const error = await failureOf("http://cloud.invalid/", { HTTP_PROXY: "http://me:password@127.0.0.1:1" });
  expect(String(error)).toBe("Error: proxy http://127.0.0.1:1 is unreachable (ECONNREFUSED)");
});

test("fails a request when the variable is not the URL of a proxy", async () => {
  const error = await failureOf("http://cloud.invalid/", { HTTP_PROXY: "ftp://proxy" });
  expect(String(error)).toContain("HTTP_PROXY is not the URL of a proxy");
});

/** A SOCKS 5 proxy (RFC 1928) that connects everything to one port, and keeps the names that it was asked for. */
async function aSocksProxy(forwardTo: number) {
  const asked: string[] = [];
  const server = createTcpServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.of(5, 0));
      socket.once("data", (request: Buffer) => {
        const length = request[4] ?? 0;
        asked.push(`${request.toString("utf8", 5, 5 + length)}:${request.readUInt16BE(5 + length)}`);
        const upstream = connect(forwardTo, "127.0.0.1", () => {
          socket.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
          upstream.pipe(socket).pipe(upstream);
        });
      });
    });
  });
  return { port: await listen(server), asked };
}

test("sends requests through a SOCKS 5 proxy, which resolves the name", async () => {
  const { name, port } = await aHost();
  const proxy = await aSocksProxy(port);
  expect(await get(`http://${name}/`, { HTTP_PROXY: `socks5://127.0.0.1:${proxy.port}` })).toBe("hello");
  expect(proxy.asked).toEqual([`${name}:80`]);
});

test("names the SOCKS 5 proxy that is not there, without its password", async () => {
  const error = await failureOf("http://cloud.invalid/", { HTTP_PROXY: "socks5://me:password@127.0.0.1:1" });
  expect(String(error)).toMatch(
    /^Error: proxy socks5:\/\/127.0.0.1:1 did not connect to cloud.invalid:80: .*ECONNREFUSED/,
  );
  expect(inspect(error)).not.toContain("password");
});
