import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDriver } from "@millwright/driver-rpc";
import { expect, it, onTestFinished } from "vitest";
import { bin } from "../harness/millwright.ts";
import { eventually } from "../harness/eventually.ts";

async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), name));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a server that ends with its standard input, and waits until it has set the permissions of its socket and responds. */
async function serveUntilStdinCloses(folder: string, ...flags: readonly string[]) {
  const socket = join(folder, "driver.sock");
  const listen = [`--listen=unix://${socket}`, "--socket-mode=0640", "--until-stdin-closes"];
  const args = ["--conditions=@millwright/source", bin, "driver", "serve", "mock", ...listen];
  const child = spawn(process.execPath, [...args, ...flags], { stdio: ["pipe", "inherit", "inherit"], detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  await eventually(async () => expect((await stat(socket)).mode & 0o777).toBe(0o640));
  await (await connectDriver(`unix://${socket}`)).close();
  return {
    async closeStdin() {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

it("a server that ends with its parent removes its socket and the folder that was made for it, and nothing else", async () => {
  const [shared, own] = await Promise.all([temporaryFolder("millwright-shared-"), temporaryFolder("millwright-own-")]);
  await writeFile(join(shared, "of-another-process"), "");
  await writeFile(join(own, "cache"), "");
  const server = await serveUntilStdinCloses(shared, `--private-folder=${own}`);
  await server.closeStdin();
  expect(await readdir(shared)).toEqual(["of-another-process"]);
  await expect(readdir(own)).rejects.toThrow("ENOENT");
});

it("a server that ends with its parent leaves the socket of a process that has replaced its own", async () => {
  const folder = await temporaryFolder("millwright-shared-");
  const server = await serveUntilStdinCloses(folder);
  await rm(join(folder, "driver.sock"));
  await writeFile(join(folder, "driver.sock"), "");
  await server.closeStdin();
  expect(await readdir(folder)).toEqual(["driver.sock"]);
});
