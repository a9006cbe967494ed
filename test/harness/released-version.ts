import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { stageImage } from "../../tools/images/stage-image.ts";
import { publishedPackages, root } from "../../tools/release/packages.ts";
import { chartWithVersion, rangesWithVersion, type Versioned, withVersion } from "../../tools/release/set-version.ts";
import { buildImage } from "./containers/build-image.ts";
import { putImage } from "./containers/image-store.ts";
import { helmPath } from "./foreign-tools.ts";

const run = promisify(execFile);
const own = new Set(publishedPackages().map(({ manifest }) => manifest.name));
const template = "packages/create-driver/template/package.template.json";

/** Where a version is released to. */
export interface ReleaseTargets {
  /** Address of the npm registry, and what may publish there. */
  readonly npm: { readonly url: string; readonly token: string };
  /** `HOST:PORT` of the registry of charts. */
  readonly charts: string;
  /** Store of images. */
  readonly images: string;
  /** Of the names of charts and images, without the host. */
  readonly repository: string;
  /** A folder for files. */
  readonly folder: string;
}

async function edit(file: string, change: (manifest: Versioned) => object): Promise<void> {
  await writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, "utf8")) as Versioned)));
}

/** Releases what this repository has, built, as a version: packages, then the image with the simulated cloud, then the chart, as the release workflow does. */
export async function releaseVersion(version: string, targets: ReleaseTargets): Promise<void> {
  const { npm, charts, images, repository } = targets;
  const folder = join(targets.folder, `release-${version}`);
  const folders = publishedPackages().map((each) => each.folder);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, workspaces: folders }));
  for (const each of folders) {
    const filter = (path: string): boolean =>
      !["node_modules", "src"].includes(basename(path)) || path.includes("template");
    await cp(join(root, each), join(folder, each), { recursive: true, filter });
    // A provenance is signed with the identity of a run of the workflow, which a test has not.
    await edit(join(folder, each, "package.json"), (manifest) => ({
      ...withVersion(manifest, version, own),
      publishConfig: { access: "public" },
    }));
  }
  await edit(join(folder, template), (manifest) => ({ ...manifest, ...rangesWithVersion(manifest, version, own) }));
  const npmrc = join(folder, "npmrc");
  await writeFile(npmrc, `${npm.url.replace("http:", "")}/:_authToken=${npm.token}\n`);
  const env = {
    ...process.env,
    npm_config_registry: `${npm.url}/`,
    npm_config_userconfig: npmrc,
    npm_config_cache: join(folder, "cache"),
    npm_config_noproxy: "127.0.0.1",
  };
  await run("npm", ["publish", "--workspaces", "--ignore-scripts"], { cwd: folder, env, maxBuffer: 64 << 20 });

  const staged = join(folder, "staged");
  await stageImage(["mock"], staged, { url: npm.url, version });
  const image = await buildImage(staged, { folder, env: () => env, base: async () => undefined });
  await putImage(images, `ghcr.io/${repository}/millwright-mock:${version}`, image);

  const chart = join(folder, "charts/millwright");
  await cp(join(root, "charts/millwright"), chart, { recursive: true });
  const file = join(chart, "Chart.yaml");
  await writeFile(file, chartWithVersion(await readFile(file, "utf8"), version));
  const helm = await helmPath("helm");
  await run(helm, ["package", chart, "--destination", folder]);
  await run(helm, [
    "push",
    join(folder, `millwright-${version}.tgz`),
    `oci://${charts}/${repository}/charts`,
    "--plain-http",
  ]);
}
