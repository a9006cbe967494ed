import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCloudClient } from "./cloud-client.ts";

const main = fileURLToPath(new URL("server-main.ts", import.meta.url));

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("millwright-mock-cloud", { timeout: 60_000 }, () => {
  let folder: string;
  const started = new Set<ChildProcessWithoutNullStreams>();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "mock-cloud-"));
  });
  afterEach(async () => {
    for (const child of started) child.kill("SIGKILL");
    started.clear();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (...args: readonly string[]): ChildProcessWithoutNullStreams => {
    const child = spawn(process.execPath, ["--conditions=@millwright/source", main, ...args]);
    started.add(child);
    return child;
  };
  const ready = async (child: ChildProcessWithoutNullStreams): Promise<string> => {
    const [line] = await once(createInterface(child.stdout), "line");
    const { url }: { url: string } = JSON.parse(String(line));
    return url;
  };
  const end = async (child: ChildProcessWithoutNullStreams): Promise<Ended> => {
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    const [status] = await once(child, "close");
    return { status: typeof status === "number" ? status : null, stdout, stderr };
  };

  it("prints its address, keeps its VMs across a restart and stops cleanly on SIGTERM", async () => {
    const file = join(folder, "sub", "cloud.json");
    const first = start("--data", file, "--boot-delay", "1ms");
    const client = createCloudClient({ endpoint: await ready(first) });
    const vm = await client.createVm({
      name: "a",
      token: "t",
      machineType: "small",
      region: "r",
      zone: "z",
      image: "i",
    });
    first.kill("SIGTERM");
    expect(await end(first)).toMatchObject({ status: 0, stderr: "" });
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ version: 1, vms: [{ vm: { id: vm.id } }] });

    const second = start("--data", file);
    await expect(createCloudClient({ endpoint: await ready(second) }).getVm("a")).resolves.toMatchObject({ id: vm.id });
    second.kill("SIGTERM");
    expect(await end(second)).toMatchObject({ status: 0 });
  });

  it("keeps what happened a moment before it was killed", async () => {
    const file = join(folder, "cloud.json");
    const first = start("--data", file, "--boot-delay", "0s");
    const client = createCloudClient({ endpoint: await ready(first) });
    await client.createVm({ name: "a", token: "t", machineType: "small", region: "r", zone: "z", image: "i" });
    await expect.poll(async () => readFile(file, "utf8"), { timeout: 30_000 }).toContain('"running"');
    first.kill("SIGKILL");
    await end(first);
    const second = start("--data", file);
    await expect(createCloudClient({ endpoint: await ready(second) }).listVms()).resolves.toHaveLength(1);
  });

  it("ends with one line and status 1 when its port is in use", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const address = holder.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const ended = await end(start("--port", String(port)));
    holder.close();
    expect(ended).toEqual({
      status: 1,
      stdout: "",
      stderr: `millwright-mock-cloud: port ${port} for the simulated cloud is in use by another process; choose another one\n`,
    });
  });

  it.each<[string, readonly string[], RegExp]>([
    ["a flag that does not exist", ["--prot", "1"], /Unknown option '--prot'.*--help lists the flags/],
    ["a port that is no number", ["--port", "many"], /--port must be a whole number from 0 to 65535, not "many"/],
    ["a delay without a unit", ["--boot-delay", "5"], /--boot-delay must be a duration such as 500ms or 5s, not "5"/],
  ])("ends with one line and status 1 for %s", async (_what, args, line) => {
    const { status, stderr } = await end(start(...args));
    expect(status).toBe(1);
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("does not overwrite a file that is not its own", async () => {
    const file = join(folder, "notes.txt");
    await writeFile(file, "my notes");
    const { status, stderr } = await end(start("--data", file));
    expect(status).toBe(1);
    expect(stderr).toContain("is not JSON");
    await expect(readFile(file, "utf8")).resolves.toBe("my notes");
  });

  it("explains itself", async () => {
    const { status, stdout } = await end(start("--help"));
    expect(status).toBe(0);
    expect(stdout).toContain("--boot-delay");
  });
});
