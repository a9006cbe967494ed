/**
 * Publishes one package: the target `nx-release-publish`. A version that the registry has is not published again, so that a release that stopped half-way is continued by the same
 * command. In a dry run (`nx release --dry-run`) npm only lists the tarball, and no registry is asked.
 *
 *     node tools/release/publish.ts packages/core
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "";
const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;

const npm = (...args: readonly string[]): void => {
  execFileSync("npm", args, { stdio: "inherit" });
};

if (process.env.NX_DRY_RUN === "true")
  npm("pack", `./${folder}`, "--dry-run", "--ignore-scripts", "--loglevel", "notice");
else if (!existsSync(join(folder, "dist"))) {
  console.error(`${folder} is not built: run \`npm run build\` first`);
  process.exitCode = 1;
} else if (spawnSync("npm", ["view", `${name}@${version}`, "version"], { encoding: "utf8" }).stdout.trim() === version)
  console.log(`${name}@${version} is published already`);
// A version such as 1.0.0-rc.1 is not what `npm install` gets without a version.
else npm("publish", `./${folder}`, "--tag", String(version).includes("-") ? "next" : "latest");
