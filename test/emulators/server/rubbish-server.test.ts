import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { listenWithRubbish } from "./rubbish-server.ts";

it("a server that talks rubbish does so at once, and is gone when it is closed, whoever is still connected", async () => {
  const { url, close } = await listenWithRubbish();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const said = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  expect(said).toBe("SSH-2.0-OpenSSH\r\n");
  await close();
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
