import { chmod, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { connectDriver } from "../client/connect-driver.ts";
import { serveDriver } from "../server/serve-driver.ts";
import { contextWith, driverWith, request } from "../testing/served-driver.ts";
import { folderProblem, socketProblem } from "./socket-folder.ts";

describe("a folder of sockets", () => {
  it.each([
    ["of this user", { mode: 0o40700, uid: 7, gid: 5, isPodVolume: false }, /^$/],
    ["of root", { mode: 0o40755, uid: 0, gid: 5, isPodVolume: false }, /^$/],
    ["of another user", { mode: 0o40700, uid: 8, gid: 5, isPodVolume: false }, /belongs to user 8/],
    ["that all may write to", { mode: 0o40777, uid: 7, gid: 5, isPodVolume: false }, /chmod go-w \/run\/driver/],
    [
      "that a group may write to",
      { mode: 0o40775, uid: 0, gid: 5, isPodVolume: false },
      /the group of .* chmod g-w \/run\/driver/,
    ],
    ["that the private group of this user may write to", { mode: 0o40775, uid: 7, gid: 7, isPodVolume: false }, /^$/],
    [
      "of this user that another group may write to",
      { mode: 0o40775, uid: 7, gid: 5, isPodVolume: false },
      /chmod g-w/,
    ],
    ["such as /tmp", { mode: 0o41777, uid: 0, gid: 5, isPodVolume: false }, /^$/],
    ["such as /tmp, but of a group", { mode: 0o41770, uid: 0, gid: 5, isPodVolume: false }, /^$/],
    ["such as an emptyDir", { mode: 0o40777, uid: 0, gid: 5, isPodVolume: true }, /^$/],
    ["such as an emptyDir with an fsGroup", { mode: 0o42775, uid: 0, gid: 5, isPodVolume: true }, /^$/],
  ])("%s is judged by who can replace a socket", (_, access, expected) => {
    expect(folderProblem(access, "/run/driver", 7) ?? "").toMatch(expected);
  });
});

describe("a socket in a sticky folder", () => {
  it.each([
    ["of this user", { mode: 0o41777, uid: 0, isPodVolume: false }, 7, /^$/],
    ["of root", { mode: 0o41777, uid: 0, isPodVolume: false }, 0, /^$/],
    ["of another user", { mode: 0o41777, uid: 0, isPodVolume: false }, 8, /belongs to user 8/],
    ["of another user in a folder of a group", { mode: 0o41770, uid: 0, isPodVolume: false }, 8, /^$/],
    ["of another user in a volume of the pod", { mode: 0o40777, uid: 0, isPodVolume: true }, 8, /^$/],
  ])("%s is judged by who can create one", (_, access, socketUid, expected) => {
    expect(socketProblem(access, socketUid, 7) ?? "").toMatch(expected);
  });
});

/** Each test has its own idea of who may write to which folder. */
async function aFolder(): Promise<string> {
  vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = await mkdtemp(join(tmpdir(), "driver-rpc-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("neither side uses a socket that another user could replace", async () => {
  const folder = await aFolder();
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

test("a socket is not used where every user may write to a folder above it, also through a link", async () => {
  const folder = await aFolder();
  const below = join(folder, "below");
  await mkdir(below, { mode: 0o700 });
  await symlink(below, join(folder, "link"));
  await chmod(folder, 0o777);
  for (const path of [join(below, "d.sock"), join(folder, "link", "d.sock")])
    await expect(serveDriver(driverWith(), `unix://${path}`)).rejects.toThrow(
      `unix://${path} is not used: every user can replace the socket in`,
    );
});

test("the folder is looked at once for each connection", async () => {
  const folder = await aFolder();
  const address = `unix://${join(folder, "driver.sock")}`;
  const listMachines = () => Promise.resolve({ machines: [] });
  const serve = () => serveDriver(driverWith({ listMachines }), address);
  const first = await serve();
  const { driver, close } = await connectDriver(address);
  onTestFinished(close);
  const list = () => driver.listMachines?.(request, contextWith());
  await list();
  await chmod(folder, 0o777);
  // The connection is the one that was made before.
  await expect(list()).resolves.toBeDefined();
  await first.close();
  await chmod(folder, 0o700);
  const second = await serve();
  onTestFinished(() => second.close());
  await chmod(folder, 0o777);
  await expect.poll(() => Promise.resolve(list()).catch(String)).toContain("every user can replace the socket");
  await chmod(folder, 0o700);
  await expect.poll(() => Promise.resolve(list()).then(() => "listed", String)).toBe("listed");
});
