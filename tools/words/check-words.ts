/**
 * Lists the removed words that occur in the files of the repository, or below the given paths, and fails when there are any.
 * `npm run words -- packages/core docs`
 */
import { readCommandLine } from "../command-line.ts";
import { findRemovedWords } from "./removed-words.ts";
import { readRepositoryFile, repositoryFiles } from "./repository-files.ts";

const usage = `usage: npm run words [-- PATH…]

Lists removed words in all files, or in those whose path starts with one of the given ones; status 1 if there are any.`;
const { positionals: paths } = readCommandLine({ usage, positionals: [0, Number.POSITIVE_INFINITY] });
const files = repositoryFiles().filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)));

let found = 0;
for (const file of files) {
  for (const { line, word, write } of findRemovedWords(file, readRepositoryFile(file))) {
    found += 1;
    console.log(`${file}:${line}: "${word}": write ${write}`);
  }
}
console.log(`words: ${files.length} files, ${found} removed words`);
process.exitCode = found === 0 ? 0 : 1;
