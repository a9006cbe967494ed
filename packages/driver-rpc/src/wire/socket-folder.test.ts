import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { connectDriver } from "../client/connect-driver.ts";
import { serveDriver } from "../server/serve-driver.ts";
import { driverWith } from "../testing/served-driver.ts";
import { folderProblem } from "./socket-folder.ts";

describe("a folder of sockets", () => {
  it.each([
    ["of this user", { mode: 0o40700, uid: 7, isPodVolume: false }, /^$/],
    ["of root", { mode: 0o40755, uid: 0, isPodVolume: false }, /^$/],
    ["of another user", { mode: 0o40700, uid: 8, isPodVolume: false }, /belongs to user 8/],
    ["that all may write to", { mode: 0o40777, uid: 7, isPodVolume: false }, /chmod o-w \/run\/driver/],
    ["such as /tmp", { mode: 0o41777, uid: 0, isPodVolume: false }, /^$/],
    ["such as an emptyDir", { mode: 0o40777, uid: 0, isPodVolume: true }, /^$/],
  ])("%s is judged by who can replace a socket", (_, access, expected) => {
    expect(folderProblem(access, "/run/driver", 7) ?? "").toMatch(expected);
  });
});

test("neither side uses a socket that another user could replace", async () => {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
  const folder = await mkdtemp(join(tmpdir(), "driver-rpc-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const address = `unix://${join(folder, "driver.sock")}`;
  const rejection = `${address} is not used: every user can replace the socket in ${folder}`;
  await chmod(folder, 0o777);
  await expect(serveDriver(driverWith(), address)).rejects.toThrow(rejection);
  await chmod(folder, 0o700);
  const server = await serveDriver(driverWith(), address);
  onTestFinished(() => server.close());
  const connection = await connectDriver(address);
  onTestFinished(() => connection.close());
  await chmod(folder, 0o777);
  await expect(connectDriver(address)).rejects.toThrow(rejection);
});
