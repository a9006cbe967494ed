import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createApiServer } from "@millwright/devcluster";
import { createApiClient } from "@millwright/kube";
import { expect, it } from "vitest";
import { configMap, configMaps, userAgent } from "./cache-under-test.ts";

const program = fileURLToPath(new URL("./file-descriptors.ts", import.meta.url));
const soon = { timeout: 20_000, interval: 50 };

it("keeps its cache without file descriptors, backs off, and recovers when there are some", async () => {
  const server = createApiServer();
  const { url } = await server.listen();
  const truth = createApiClient({ server: url });
  await truth.create(configMaps, configMap("a"));
  const child = spawn(
    "/bin/sh",
    ["-c", 'ulimit -n 96; exec "$0" "$@"', process.execPath, "--conditions=@millwright/source", program, url],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  const lines = () => text.split("\n");
  const send = (line: string) => void child.stdin.write(`${line}\n`);
  const failures = () => Number(/failures (\d+)\n(?![^]*failures)/.exec(text)?.[1] ?? 0);
  try {
    await expect.poll(lines, soon).toContain("synced");
    send("exhaust");
    await expect.poll(lines, soon).toContain("exhausted EMFILE");
    // Its watch is closed, and no new one can be opened.
    const partition = server.faults.add({ match: { userAgent }, effect: { kind: "partition" } });
    await new Promise((resolve) => setTimeout(resolve, 300));
    partition.remove();
    await truth.create(configMaps, configMap("b"));
    send("list");
    await expect.poll(lines, soon).toContain("failed Unreachable");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    send("report");
    await expect.poll(lines, soon).toContain("has a");
    await expect.poll(failures).toBeGreaterThan(1);
    expect(failures()).toBeLessThan(30);

    send("release");
    await expect.poll(lines, soon).toContain("released");
    await expect.poll(() => (send("report"), lines()), soon).toContain("has a,b");
    send("list");
    await expect.poll(lines, soon).toContain("listed 2");
    expect(text).not.toContain("uncaught");
  } finally {
    child.kill("SIGKILL");
    await truth.close();
    await server.close();
  }
});
