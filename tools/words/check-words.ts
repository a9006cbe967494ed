/**
 * Lists the removed words that occur in the files of the repository, or below the paths that are given, and fails when there are any.
 * `npm run words -- packages/core docs`
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findRemovedWords } from "./removed-words.ts";

const root = join(import.meta.dirname, "../..");
const files = execFileSync("git", ["ls-files", "*.ts", "*.md", "*.js", "*.yaml", ".ci/run", ...process.argv.slice(2)], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(ts|md|js|yaml)$|\/run$/.test(file) && existsSync(join(root, file)))
  .filter((file) => process.argv.length === 2 || process.argv.slice(2).some((path) => file.startsWith(path)));

let found = 0;
for (const file of files) {
  for (const { line, word, write } of findRemovedWords(file, readFileSync(join(root, file), "utf8"))) {
    found += 1;
    console.log(`${file}:${line}: "${word}": write ${write}`);
  }
}
console.log(`words: ${files.length} files, ${found} removed words`);
process.exitCode = found === 0 ? 0 : 1;
