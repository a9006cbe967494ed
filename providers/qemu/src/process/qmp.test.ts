import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runQmp } from "./qmp.ts";

const greeting = '{"QMP":{"version":{},"capabilities":[]}}\r\n';
const never = new AbortController().signal;

/** A socket of QEMU whose answers follow from what it is sent. */
async function startSocket(answer: (line: string, socket: Socket) => void, first = greeting): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-qmp-"));
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.write(first);
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.trim().split("\n")) answer(line, socket);
    });
    socket.on("error", () => undefined);
  });
  const path = join(folder, "qmp");
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
    await rm(folder, { recursive: true });
  });
  return path;
}

describe("a command of QEMU's machine protocol", () => {
  it("follows the capabilities, and returns the answer among events and in pieces", async () => {
    const sent: unknown[] = [];
    const path = await startSocket((line, socket) => {
      sent.push(JSON.parse(line));
      if (sent.length === 1) return socket.write('{"return": {}}\r\n{"event":"RESUME"}\r\n');
      socket.write('{"event":"X"}\r\n{"return":{"runn');
      return setImmediate(() => socket.write('ing":true}}\r\n'));
    });
    expect(await runQmp(path, "query-status", never)).toEqual({ running: true });
    expect(sent).toEqual([{ execute: "qmp_capabilities" }, { execute: "query-status" }]);
  });

  it("fails with the description of an error", async () => {
    const path = await startSocket((_, socket) => socket.write('{"error":{"class":"GenericError","desc":"busy"}}\r\n'));
    await expect(runQmp(path, "system_powerdown", never)).rejects.toThrow("busy");
  });

  it("fails if QEMU ends, sends something else, or does not exist", async () => {
    const ending = await startSocket((_, socket) => socket.destroy());
    await expect(runQmp(ending, "query-status", never)).rejects.toThrow("closed the connection");
    const odd = await startSocket((_, socket) => socket.write("<html>\r\n"));
    await expect(runQmp(odd, "query-status", never)).rejects.toThrow("not JSON");
    const endless = await startSocket(() => undefined, "x".repeat(1_100_000));
    await expect(runQmp(endless, "query-status", never)).rejects.toThrow("too long");
    await expect(runQmp(`${odd}-none`, "query-status", never)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends with the signal, also when QEMU does not answer", async () => {
    const stop = new AbortController();
    const path = await startSocket(() => stop.abort(new Error("the call is over")));
    await expect(runQmp(path, "query-status", stop.signal)).rejects.toThrow("the call is over");
    await expect(runQmp(path, "query-status", stop.signal)).rejects.toThrow("the call is over");
  });
});
