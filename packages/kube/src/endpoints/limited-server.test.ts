import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { createLimitedServer, HEADERS_MS, type ServerLimits } from "./limited-server.ts";

const limits: ServerLimits = { total: 20, perPeer: 20, headerBytes: 16 * 1024 };

/** A server that answers once `answer` is called, at once by default. */
async function start({ isHeld = false } = {}) {
  const requests: (() => void)[] = [];
  const server = createLimitedServer(limits, (_request, response) => {
    const answer = (): void => void response.end("OK");
    requests.push(answer);
    if (!isHeld) answer();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  return { server, requests, open, url: `http://127.0.0.1:${port}` };
}

const get = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

it("answers one request after the other on a connection", async () => {
  const { requests, url } = await start();
  for (let round = 0; round < 20; round++) expect(await (await fetch(url)).text()).toBe("OK");
  expect(requests).toHaveLength(20);
});

it("closes a connection with pipelined requests, of which one is answered at most", async () => {
  const { requests, open, url } = await start({ isHeld: true });
  const socket = await open();
  socket.write(get.repeat(500));
  await text(socket);
  expect(requests).toHaveLength(1);
  const other = fetch(url);
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.();
  expect(await (await other).text()).toBe("OK");
});

it("closes connections without a request for new ones, which are answered", async () => {
  const { server, open, url } = await start();
  const sockets: Socket[] = [];
  for (let count = 0; count < 100; count++) sockets.push(await open());
  expect(await (await fetch(url)).text()).toBe("OK");
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(80);
  const held = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  expect(held).toBeLessThanOrEqual(limits.total);
});

it(
  "cuts clients that send their headers slowly, or nothing",
  async () => {
    const { requests, open } = await start();
    const [slow, silent] = [await open(), await open()];
    slow.write("GET / HTTP/1.1\r\n");
    const drip = setInterval(() => slow.write("x: y\r\n"), 500);
    onTestFinished(() => clearInterval(drip));
    const answers = await Promise.all([text(slow), text(silent)]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 408 |^$/);
    expect(requests).toHaveLength(0);
  },
  HEADERS_MS * 12,
);
