import { execFile, spawnSync } from "node:child_process";
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stageImage } from "../../tools/images/stage-image.ts";
import { isAllowed } from "../../tools/release/licenses.ts";
import { root } from "../../tools/release/packages.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startProgram } from "../harness/program.ts";

const run = promisify(execFile);

/** Mounts need root, or a kernel that allows them to others. */
const canMount = spawnSync("unshare", ["--mount", "true"]).status === 0;

/** Files of a folder with their modes, times and contents. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const names = (await readdir(folder, { recursive: true })).toSorted();
  for (const name of names) {
    const { mode, mtimeMs } = await lstat(join(folder, name));
    hash.update(`${name} ${mode} ${mtimeMs}\n`);
    if (/\.(?:json|js)$/.test(name)) hash.update(await readFile(join(folder, name)).catch(() => ""));
  }
  return hash.digest("hex");
}

const versionIn = async (folder: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;

/** The file system of an image, without an engine for containers: Node, the libraries that it loads, and the staged folder. */
async function assemble(rootFolder: string): Promise<void> {
  const place = async (from: string, to: string): Promise<void> => {
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
  };
  for (const folder of ["app", "tmp", "dev", "proc"]) await mkdir(join(rootFolder, folder), { recursive: true });
  await place(process.execPath, join(rootFolder, "usr/local/bin/node"));
  const { stdout } = await run("ldd", [process.execPath]);
  for (const [library] of stdout.matchAll(/\/\S+/g)) await place(library, join(rootFolder, library));
}

/** Starts a program as a container would be started: as user 65532, with a root that cannot be written and a /tmp that is full. */
const startContained = (rootFolder: string, app: string, args: readonly string[]) =>
  startProgram(`image ${args.join(" ")}`, "unshare", [
    "--mount",
    "bash",
    "-euc",
    `mount --bind "$0" "$0"; mount --bind "$1" "$0/app"; mount -t tmpfs -o nr_inodes=1 tmpfs "$0/tmp"; mount --rbind /dev "$0/dev"; mount --rbind /proc "$0/proc"
mount -o remount,bind,ro "$0"; mount -o remount,bind,ro "$0/app"; root=$0; shift; exec chroot --userspec=65532:65532 "$root" "$@"`,
    rootFolder,
    app,
    "/usr/local/bin/node",
    "/app/node_modules/@millwright/cli/dist/bin.js",
    ...args,
  ]);

describe("the image", () => {
  let folder = "";
  let staged: string;
  let rootFolder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-image-"));
    staged = join(folder, "staged");
    rootFolder = join(folder, "root");
    await stageImage(["mock", "gcp"], staged);
    await assemble(rootFolder);
  }, 400_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is the same again, and lists its packages", async () => {
    const again = join(folder, "again");
    await stageImage(["mock", "gcp"], again);
    expect(await digestOf(join(again, "app"))).toBe(await digestOf(join(staged, "app")));
    const list = await readFile(join(staged, "sbom.cdx.json"), "utf8");
    expect(await readFile(join(again, "sbom.cdx.json"), "utf8")).toBe(list);
    const { components } = JSON.parse(list);
    const names = components.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["@millwright/cli", "@millwright/provider-mock", "@millwright/provider-gcp", "commander"]),
    );
    expect(names).not.toContain("@azure/arm-compute");
    expect(list).not.toContain("127.0.0.1");
  }, 400_000);

  it("has the license of every package, and its text where the package has one", async () => {
    const list = JSON.parse(await readFile(join(staged, "app/sbom.cdx.json"), "utf8"));
    expect(list).toEqual(JSON.parse(await readFile(join(staged, "sbom.cdx.json"), "utf8")));
    expect(list.components.length).toBeGreaterThan(50);
    for (const { name, version, licenses } of list.components) {
      const [{ license, expression }] = licenses;
      expect(isAllowed(expression ?? license.id), `${name} ${version}`).toBe(true);
    }
    const isLicense = (file: string): boolean => /^(?:licen[cs]e|copying)/i.test(file);
    const texts: string[] = [];
    for (const folderOf of globSync("app/node_modules/{*,@*/*}/package.json", { cwd: staged }).map(dirname)) {
      const kept = (await readdir(join(staged, folderOf))).filter(isLicense);
      texts.push(...kept);
      const source = join(root, folderOf.replace("app/", ""));
      // Another version of a package may be at the same place there.
      const same = (await versionIn(source)) === (await versionIn(join(staged, folderOf)));
      expect(kept, folderOf).toEqual(same ? (await readdir(source)).filter(isLicense) : kept);
    }
    expect(texts.some((file) => /\.md$/i.test(file))).toBe(true);
  });

  it.skipIf(!canMount)(
    "runs machines as a user without rights, with a root that cannot be written and a full /tmp (where mounts are allowed)",
    async () => {
      const installation = await startInstallation();
      const { controllersKubeconfig, api } = installation;
      await copyFile(controllersKubeconfig, join(staged, "app/kubeconfig"));
      await chmod(join(staged, "app/kubeconfig"), 0o644);
      const flags = ["--provider=mock", "--control-kubeconfig=/app/kubeconfig", "--namespace=default"];
      const process = startContained(rootFolder, join(staged, "app"), ["run", ...flags]);
      try {
        await process.waitFor(/"Ready"/, 60_000);
        expect(await readFile(`/proc/${process.child.pid ?? ""}/status`, "utf8")).toMatch(/^Uid:\s+65532\s+65532/m);
        await api.create(machineClassResource, machineClass("small"));
        await api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
        await eventually(async () => expect(installation.cloud.vms()).toHaveLength(2), 60_000);
      } finally {
        await process.stop("SIGKILL");
        await installation.close();
        await rm(join(staged, "app/kubeconfig"));
      }
    },
  );
});
