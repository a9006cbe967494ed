/**
 * Fills the marked blocks of README.md, of the pages in docs/ and of the READMEs of chart and providers from the tables that the code runs, and writes the generated files of the chart. With
 * `--check` it writes nothing and fails when a file differs. Needs `--conditions=@millwright/source`.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generatedBlocks } from "./generated-blocks.ts";
import { readCommandLine } from "../command-line.ts";
import { generatedFiles } from "./generated-files.ts";
import { fillBlocks } from "./marked-blocks.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const usage = `usage: npm run docs [-- --check]

Fills the generated blocks of the documents and writes the generated files.
--check  writes nothing; status 1 if one of them is out of date`;
const isCheck = readCommandLine({ usage, options: { check: { type: "boolean" } } }).values.check === true;
const read = (file: string): string => readFileSync(join(root, file), "utf8");

const blocks = generatedBlocks(read);
const unused = new Set(blocks.keys());
const stale: string[] = [];
/** Writes a file that differs, unless it is only checked. */
const update = (file: string, before: string, text: string): void => {
  if (text === before) return;
  stale.push(file);
  if (!isCheck) writeFileSync(join(root, file), text);
};
const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".md"));
const readmes = readdirSync(join(root, "providers")).map((name) => `providers/${name}/README.md`);
const files = [
  "README.md",
  "charts/millwright/README.md",
  "packages/cli/README.md",
  ...pages.toSorted().map((name) => `docs/${name}`),
  ...readmes.toSorted(),
];
for (const file of files.filter((name) => existsSync(join(root, name)))) {
  const before = read(file);
  const { text, used } = fillBlocks(file, before, blocks);
  for (const name of used) unused.delete(name);
  update(file, before, text);
}
for (const [file, text] of generatedFiles(read)) update(file, existsSync(join(root, file)) ? read(file) : "", text);

for (const file of stale) console.log(isCheck ? `${file} is out of date: run npm run docs` : `${file} written`);
for (const name of unused) console.error(`no document has the block "${name}"`);
console.log(`generated documents: ${blocks.size} blocks, ${stale.length} files ${isCheck ? "out of date" : "written"}`);
process.exitCode = unused.size > 0 || (isCheck && stale.length > 0) ? 1 : 0;
