import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkspace, writeKubeconfig } from "./workspace.ts";

describe("openWorkspace", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-test-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("removes a temporary folder with all that is in it", async () => {
    const workspace = await openWorkspace(undefined, undefined);
    await writeKubeconfig(workspace.kubeconfig, "kind: Config");
    await workspace.remove();
    await expect(access(workspace.folder)).rejects.toThrow("ENOENT");
  });

  it("keeps a data folder, but not the kubeconfig of a server that is gone", async () => {
    const workspace = await openWorkspace(join(folder, "data"), undefined);
    await writeKubeconfig(workspace.kubeconfig, "kind: Config");
    await workspace.remove();
    await access(workspace.folder);
    await expect(access(workspace.kubeconfig)).rejects.toThrow("ENOENT");
  });

  it("names the flag when a folder or file cannot be made", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    await expect(openWorkspace(join(file, "data"), undefined)).rejects.toThrow(/--data .*cannot create the folder/);
    await expect(writeKubeconfig(join(file, "kubeconfig"), "")).rejects.toThrow(/--kubeconfig .*cannot be written/);
  });
});
