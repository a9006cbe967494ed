import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { machineApiVersion } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { callerFolder } from "./caller-folder.ts";

const bin = fileURLToPath(new URL("bin.ts", import.meta.url));

it("npm run millwright takes relative paths from the folder in which it is called", async () => {
  const folder = await mkdtemp(join(tmpdir(), "caller-"));
  try {
    const deployment = {
      apiVersion: machineApiVersion,
      kind: "MachineDeployment",
      metadata: { name: "pool", uid: "pool" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { name: "pool" } },
        template: { metadata: { labels: { name: "pool" } }, spec: { class: { kind: "MachineClass", name: "small" } } },
      },
    };
    await writeFile(join(folder, "state.yaml"), JSON.stringify(deployment));
    // What npm sets for the script `millwright` of this repository.
    const env = { ...process.env, npm_package_name: "millwright", npm_lifecycle_event: "millwright", INIT_CWD: folder };
    const args = ["--conditions=@millwright/source", bin, "plan", "--state", "state.yaml", "--scale", "pool=0"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tmpdir(), env }).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    expect(stdout).toContain("MachineDeployment pool");
  } finally {
    await rm(folder, { recursive: true });
  }
});

it("scripts of other packages, and commands without npm, have the paths of their folder", () => {
  const ours = { npm_package_name: "millwright", npm_lifecycle_event: "millwright", INIT_CWD: "/home/a" };
  expect(callerFolder(ours)).toBe("/home/a");
  expect(callerFolder({ ...ours, npm_package_name: "other" })).toBeUndefined();
  expect(callerFolder({ ...ours, npm_lifecycle_event: "npx" })).toBeUndefined();
  expect(callerFolder({})).toBeUndefined();
});
