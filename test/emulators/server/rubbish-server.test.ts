import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { listenWithRubbish } from "./rubbish-server.ts";

it("a server with an invalid protocol responds at once, and closes with open connections", async () => {
  const { url, close } = await listenWithRubbish();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const received = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  expect(received).toBe("SSH-2.0-OpenSSH\r\n");
  await close();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
