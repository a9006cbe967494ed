/**
 * Lists the removed words that occur in the files of the repository, or below the given paths, and fails when there are any.
 * `npm run words -- packages/core docs`
 */
import { findRemovedWords } from "./removed-words.ts";
import { readRepositoryFile, repositoryFiles } from "./repository-files.ts";

const paths = process.argv.slice(2);
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
