/** Prints how large the repository is for its readers: `npm run size`. */
import { readCommandLine } from "../command-line.ts";
import { countLines } from "./count-lines.ts";
import { countContractNames } from "./count-names.ts";
import { countWords } from "./count-words.ts";

readCommandLine({
  usage: `usage: npm run size

Prints how large the repository is for its readers: lines of TypeScript, words of documents without code and generated parts, and names of the driver contract.`,
});

const { product, tests, tools } = countLines();
const { site, project } = await countWords();
const rows: readonly (readonly [string, number])[] = [
  ["product sources, lines", product],
  ["tests, lines", tests],
  ["tools, lines", tools],
  ["documents for users, words", site],
  ["project book and READMEs, words", project],
  ["names of the driver contract", countContractNames()],
];
for (const [what, count] of rows) console.log(`${what.padEnd(34)}${count.toLocaleString("en-US").padStart(9)}`);
