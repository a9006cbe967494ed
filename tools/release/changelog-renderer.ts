/** Writes the entries of CHANGELOG.md for `nx release`, which loads this file by its path in nx.json. nx reads conventional commits only and drops all others, so git is asked. */
import { execFileSync } from "node:child_process";
import { changelogEntry } from "./changelog.ts";
import { root } from "./packages.ts";

const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** First lines of the commits since the last version; undefined if there is none. */
function subjectsSinceLastVersion(): readonly string[] | undefined {
  const last = git("tag", "--merged", "HEAD", "--list", "v*", "--sort=-version:refname").split("\n")[0];
  if (last === undefined || last === "") return undefined;
  return git("log", "--no-merges", "--format=%s", `${last}..HEAD`).split("\n").filter(Boolean);
}

export default class AreaChangelogRenderer {
  readonly #version: string;

  constructor({ changelogEntryVersion }: { readonly changelogEntryVersion: string }) {
    this.#version = changelogEntryVersion;
  }

  /** The entry of the version of this release. */
  async render(): Promise<string> {
    const date = git("log", "-1", "--format=%cs");
    return changelogEntry(this.#version.replace(/^v/, ""), date, subjectsSinceLastVersion());
  }
}
