import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const bin = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url));

/** Runs `millwright dev` until it ends, with files of at most so many KiB: what exceeds them fails as on a full disk. */
async function dev(args: readonly string[], maxFileKib = "unlimited") {
  const command = `ulimit -f ${maxFileKib}; exec "$0" --conditions=@millwright/source "$@"`;
  const child = spawn("bash", ["-c", command, process.execPath, bin, "dev", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString("utf8")));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return { status, errors };
}

const run = promisify(execFile);

/** Why no file system can be mounted here; `undefined` when one can. */
async function whyNoMount(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-mount-"));
  try {
    await run("mount", ["-t", "tmpfs", "tmpfs", folder]);
    await run("umount", [folder]);
    return undefined;
  } catch (error) {
    return `mounting is not permitted: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One line that names the command and the cause, and no stack. */
const oneLine = (cause: RegExp) => ({
  status: 1,
  errors: expect.stringMatching(new RegExp(`^millwright: [^\\n]*${cause.source}[^\\n]*\\n$`)),
});

describe("millwright dev that cannot run", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-dev-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("ends with one line when a driver cannot be loaded", async () => {
    expect(await dev(["--provider", "./none.ts"])).toEqual(oneLine(/--provider \.\/none\.ts: there is no file/));
  });

  it("ends with one line when its port is in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await dev(["--port", String(port)])).toEqual(oneLine(/in use/));
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(["/proc/millwright", "/proc/millwright/data"])(
    "ends with one line when --data %s cannot be created",
    async (data) => {
      expect(await dev(["--data", data])).toEqual(oneLine(/cannot create the folder/));
    },
  );

  it("ends with one line when a file is in the place of its data", async () => {
    await writeFile(join(folder, "cluster"), "");
    expect(await dev(["--data", folder])).toEqual(oneLine(/cannot be created/));
  });

  it("ends with one line when the file system of its data is read-only, with data and without", async (context) => {
    const reason = await whyNoMount();
    context.skip(reason !== undefined, reason);
    await run("mount", ["-t", "tmpfs", "tmpfs", folder]);
    try {
      const remount = (mode: "ro" | "rw") => run("mount", ["-o", `remount,${mode}`, folder]);
      await remount("ro");
      expect(await dev(["--data", folder])).toEqual(oneLine(/cluster: cannot be created \(EROFS/));
      expect(await dev(["--data", join(folder, "new", "data")])).toEqual(oneLine(/cannot create the folder: EROFS/));
      await remount("rw");
      expect(await dev(["--data", folder, "--exit-when-ready"])).toEqual({ status: 0, errors: "" });
      await remount("ro");
      expect(await dev(["--data", folder])).toEqual(oneLine(/cluster: cannot be written \(EROFS/));
    } finally {
      await run("umount", [folder]);
    }
  });

  it("ends with one line when its data is damaged", async () => {
    await mkdir(join(folder, "cluster"));
    await writeFile(join(folder, "cluster", "objects.jsonl"), "{}\n{}\n");
    expect(await dev(["--data", folder])).toEqual(oneLine(/objects\.jsonl/));
    await rm(join(folder, "cluster"), { recursive: true });
    await writeFile(join(folder, "cloud.json"), "{");
    expect(await dev(["--data", folder])).toEqual(oneLine(/cloud\.json/));
  });

  it.each(["0", "20", "120"])(
    "ends with one line when the disk is full after %s KiB, and continues when there is room",
    async (kib) => {
      expect(await dev(["--data", folder], kib)).toEqual(oneLine(/(cannot be written|EFBIG)/));
      const { status, errors } = await dev(["--data", folder, "--exit-when-ready"]);
      expect([status, errors]).toEqual([0, ""]);
    },
  );
});
