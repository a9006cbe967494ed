import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The files of the repository whose words are checked: sources, documents and manifests. */
export function repositoryFiles(): readonly string[] {
  return execFileSync("git", ["ls-files", "*.ts", "*.md", "*.js", "*.yaml", ".ci/run"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}

/** Reads a file by its path from the root. */
export const readRepositoryFile = (file: string): string => readFileSync(join(root, file), "utf8");
