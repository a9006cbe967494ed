import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("millwright", import.meta.url));
const run = promisify(execFile);

describe("tools/millwright", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "clone-command-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("runs by a link, with paths from the folder in which it is called", async () => {
    await symlink(script, join(folder, "millwright"));
    const manifest = {
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "MachineDeployment",
      metadata: { name: "pool", uid: "pool" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { name: "pool" } },
        template: { metadata: { labels: { name: "pool" } }, spec: { class: { kind: "MachineClass", name: "small" } } },
      },
    };
    await writeFile(join(folder, "state.yaml"), JSON.stringify(manifest));
    const words = ["plan", "--state", "state.yaml", "--scale", "pool=0"];
    const { stdout } = await run(join(folder, "millwright"), words, { cwd: folder }).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    expect(stdout).toContain("MachineDeployment pool");
  });

  it("names the command that installs, where nothing is installed", async () => {
    const clone = join(folder, "clone");
    await mkdir(join(clone, "tools"), { recursive: true });
    await cp(script, join(clone, "tools/millwright"));
    await expect(run(join(clone, "tools/millwright"), ["version"])).rejects.toMatchObject({
      code: 1,
      stderr: `millwright: nothing is installed in ${clone}; run "npm run setup" there\n`,
    });
  });

  it("runs the build where that is newer than the sources, and else the sources", async () => {
    const clone = join(folder, "built");
    const node = join(clone, "node_modules/node/bin/node");
    const built = join(clone, "packages/cli/dist/bin.js");
    for (const path of [node, built, join(clone, "packages/core/src/a.ts"), join(clone, "providers/aws/src/a.ts")]) {
      await mkdir(join(path, ".."), { recursive: true });
      await writeFile(path, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    }
    await mkdir(join(clone, "tools"), { recursive: true });
    await cp(script, join(clone, "tools/millwright"));
    const started = async (): Promise<string> => (await run(join(clone, "tools/millwright"), ["top"])).stdout.trim();
    const later = async (path: string, seconds: number): Promise<void> => {
      await run("touch", ["-d", `+${seconds} seconds`, path]);
    };
    await later(built, 60);
    expect(await started()).toBe(`${built} top`);
    await later(join(clone, "packages/core/src/a.ts"), 120);
    expect(await started()).toBe(`--conditions=@millwright/source ${join(clone, "packages/cli/src/bin.ts")} top`);
  });
});
