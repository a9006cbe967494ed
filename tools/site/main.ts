/**
 * `npm run site`: the documents as a web site in tools/site/dist. Its own dependencies come with `npm ci --prefix tools/site`, so that those who do not
 * build it do not install them.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../command-line.ts";
import { documentPages, root } from "../docs/document-pages.ts";
import { sidebarOf, siteFiles } from "./site-pages.ts";
import { refOf, versionMenu } from "./versions.ts";

const usage = `usage: npm run site [-- --dev]

Builds the documentation as a web site: static files in tools/site/dist.
--dev  serves the pages on this machine instead`;
const isDev = readCommandLine({ usage, options: { dev: { type: "boolean" } } }).values.dev === true;

const folder = fileURLToPath(new URL(".", import.meta.url));
const vitepress = join(folder, "node_modules/vitepress/bin/vitepress.js");
if (!existsSync(vitepress)) {
  console.error("VitePress is not installed: run npm ci --prefix tools/site");
  process.exit(1);
}

interface Manifest {
  readonly repository: { readonly url: string };
}
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const repository = manifest.repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
/** Lines that git prints. */
const git = (...args: readonly string[]): readonly string[] =>
  spawnSync("git", args, { cwd: root, encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line !== "");
const [tag] = git("tag", "--list", "v*", "--points-at", "HEAD");
const versions = { tags: git("tag", "--list", "v*"), repository, ...(tag === undefined ? {} : { tag }) };
const pages = new Map((await documentPages()).map(({ file, text }) => [file, text]));
const sources = { pages, repository, ref: refOf(versions) };

const staged = join(folder, ".pages");
rmSync(staged, { recursive: true, force: true });
for (const { path, source, text } of siteFiles(["README.md", "CHANGELOG.md"], sources)) {
  mkdirSync(dirname(join(staged, path)), { recursive: true });
  if (text === undefined) cpSync(join(root, source), join(staged, path));
  else writeFileSync(join(staged, path), text);
}
mkdirSync(join(staged, "public"));
cpSync(join(root, "packages/dashboard/page/icon.svg"), join(staged, "public/icon.svg"));
const sidebar = {
  "/": sidebarOf("docs/README.md", sources),
  "/project/": sidebarOf("docs/project/README.md", sources),
};
const site = { sidebar, versions: versionMenu(versions), repository };
writeFileSync(join(folder, ".vitepress/site.json"), JSON.stringify(site, undefined, 2));

const { status } = spawnSync(process.execPath, [vitepress, isDev ? "dev" : "build", folder], { stdio: "inherit" });
process.exitCode = status ?? 1;
