import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { oldestNode } from "../../packages/cli/src/supported-node.ts";
import { publishedPackages, root, workspacePackages } from "./packages.ts";

const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string; repository: object };

it("every published package has what npm, provenance and users need", () => {
  expect(publishedPackages().length).toBeGreaterThan(15);
  for (const { folder, manifest } of publishedPackages())
    expect(manifest, folder).toMatchObject({
      version: own.version,
      description: expect.stringMatching(/\.$/),
      license: "Apache-2.0",
      // npm rejects a provenance whose repository is not the one of the package.
      repository: { ...own.repository, directory: folder },
      files: expect.arrayContaining(["dist"]),
      engines: { node: `>=${oldestNode}` },
      publishConfig: { access: "public", provenance: true },
      nx: { targets: { build: {}, "nx-release-publish": {} } },
    });
});

it("tools and tests are private, and have nothing to publish with", () => {
  const kept = workspacePackages().filter(({ manifest }) => manifest.private === true);
  expect(kept.map(({ folder }) => folder)).toEqual(["test", "tools"]);
  for (const { folder, manifest } of kept) {
    expect(manifest, folder).not.toHaveProperty("publishConfig");
    expect(manifest, folder).not.toHaveProperty(["nx", "targets", "nx-release-publish"]);
  }
});

it("every tarball has the license of the repository", () => {
  const license = readFileSync(join(root, "LICENSE"), "utf8");
  const folders = publishedPackages().map(({ folder }) => `./${folder}`);
  const args = ["pack", ...folders, "--dry-run", "--json", "--ignore-scripts"];
  const packed = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 })) as {
    name: string;
    files: { path: string }[];
  }[];
  expect(packed).toHaveLength(folders.length);
  for (const { name, files } of packed)
    expect(
      files.map(({ path }) => path),
      name,
    ).toContain("LICENSE");
  for (const folder of folders) expect(readFileSync(join(root, folder, "LICENSE"), "utf8"), folder).toBe(license);
});
