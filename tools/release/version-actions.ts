/** How `nx release` reads and sets versions: nx loads this file by its path in nx.json. The packages of a release have one version, so every one of them sets it everywhere. */
import { join } from "node:path";
import { VersionActions } from "nx/release";
import { publishedPackages, workspacePackages } from "./packages.ts";
import { chartWithVersion, lockWithVersion, rangesWithVersion, withVersion } from "./set-version.ts";
import type { Versioned } from "./set-version.ts";

/** Files of nx, which are written at the end; in a dry run they are only printed. */
type Files = Parameters<VersionActions["updateProjectVersion"]>[0];

const template = "packages/create-driver/template/package.template.json";
const chart = "charts/millwright/Chart.yaml";

function edit(files: Files, path: string, change: (text: string) => string): void {
  const text = files.read(path, "utf8");
  if (text === null) throw new Error(`${path} does not exist`);
  files.write(path, change(text));
}

const json =
  <T>(change: (value: T) => object) =>
  (text: string): string =>
    `${JSON.stringify(change(JSON.parse(text) as T), undefined, 2)}\n`;

export default class FixedVersionActions extends VersionActions {
  validManifestFilenames = ["package.json"];

  async readCurrentVersionFromSourceManifest(files: Files) {
    const manifestPath = join(this.projectGraphNode.data.root, "package.json");
    const { version } = JSON.parse(files.read(manifestPath, "utf8") ?? "{}") as { version: string };
    return { currentVersion: version, manifestPath };
  }

  async readCurrentVersionFromRegistry(): Promise<never> {
    throw new Error("versions are read from package.json: set release.version.currentVersionResolver to disk");
  }

  /** Ranges are set together with the version. */
  async readCurrentVersionOfDependency() {
    return { currentVersion: null, dependencyCollection: null };
  }

  async updateProjectDependencies(): Promise<string[]> {
    return [];
  }

  async updateProjectVersion(files: Files, version: string): Promise<string[]> {
    const own = new Set(publishedPackages().map(({ manifest }) => manifest.name));
    for (const folder of ["", ...workspacePackages().map((known) => known.folder)])
      edit(
        files,
        join(folder, "package.json"),
        json<{ name: string }>((manifest) => withVersion(manifest, version, own)),
      );
    edit(
      files,
      "package-lock.json",
      json<{ packages: Record<string, Versioned> }>((lock) => lockWithVersion(lock, version, own)),
    );
    edit(
      files,
      template,
      json<object>((manifest) => ({ ...manifest, ...rangesWithVersion({ ...manifest }, version, own) })),
    );
    edit(files, chart, (text) => chartWithVersion(text, version));
    return [`${this.projectGraphNode.name} ${version}`];
  }
}
