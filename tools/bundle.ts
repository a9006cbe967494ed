/**
 * Writes the JavaScript of a package to its `dist`: one file for each entry, and chunks that they share. Node needs longer to load hundreds of small
 * files than most commands need for their work. Packages stay apart, so that a driver and the command share one copy of each. tsc writes the declarations.
 *
 *     node tools/bundle.ts packages/core
 */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { readCommandLine } from "./command-line.ts";

/** The parts of a package.json that decide what is built. */
interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
}

/**
 * Dependencies that become part of the chunks, because each consists of many files. They stay dependencies, for their types. Copies must work side by
 * side: those of zod share their registries.
 */
const inlined = ["yaml", "zod"];

const { positionals } = readCommandLine({
  usage: `usage: node tools/bundle.ts PACKAGE

Bundles the package in the folder PACKAGE, which tsc has checked, into its dist folder.`,
  positionals: [1, 1],
});
const folder = resolve(positionals[0] ?? "");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** Name of the file in `dist` of a source, without its end. */
const outputOf = (source: string): string =>
  relative(existsSync(join(folder, "src")) ? join(folder, "src") : folder, source).replace(/\.ts$/, "");

const exported = Object.values(manifest.exports ?? {}).flatMap((target) =>
  typeof target === "string" ? [] : (target["@millwright/source"] ?? []),
);
const commands = Object.values(manifest.bin ?? {}).map((file) => file.replace("/dist/", "/src/").replace(/js$/, "ts"));
// Threads are started from a file of their own.
const threads = globSync("src/**/*-thread.ts", { cwd: folder });
const sources = [...new Set([...exported, ...commands, ...threads].map((file) => join(folder, file)))];

const isInlined = (name: string): boolean => inlined.some((each) => name === each || name.startsWith(`${each}/`));

/** Lets `new URL(FILE, import.meta.url)` name the same file as in the sources, wherever the chunk is. */
const keepUrls: Plugin = {
  name: "keep-urls",
  transform: (code, id) =>
    id.startsWith(folder) && code.includes(", import.meta.url)")
      ? { code: code.replaceAll(", import.meta.url)", `, $dist(${JSON.stringify(outputOf(id))}))`), map: null }
      : undefined,
  renderChunk: (code, { fileName }) => ({
    code: code.replaceAll(/\$dist\("([^"]*)"\)/g, (_, output: string) => {
      const path = relative(dirname(fileName), output);
      return `new URL(${JSON.stringify(path.startsWith(".") ? path : `./${path}`)}, import.meta.url)`;
    }),
    map: null,
  }),
};

const bundle = await rolldown({
  cwd: folder,
  input: Object.fromEntries(sources.map((source) => [outputOf(source), source])),
  platform: "node",
  external: (name, importer) => importer !== undefined && !/^[./]/.test(name) && !isInlined(name),
  plugins: [keepUrls],
  onLog(level, log) {
    throw new Error(`${level}: ${log.message}`);
  },
});
// Their names change with their text.
rmSync(join(folder, "dist/chunks"), { recursive: true, force: true });
const { output } = await bundle.write({
  dir: join(folder, "dist"),
  sourcemap: true,
  chunkFileNames: "chunks/[name]-[hash].js",
  // The engine keeps the text of what it has loaded, and two bytes for each character where one of them is not Latin. Source maps lead to the comments.
  comments: { legal: true, annotation: true, jsdoc: false },
  charset: "ascii",
});

const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
for (const name of inlined.filter((each) => modules.some((id) => id.includes(`/node_modules/${each}/`)))) {
  const installed = dirname(createRequire(join(folder, "package.json")).resolve(`${name}/package.json`));
  mkdirSync(join(folder, "dist/licenses"), { recursive: true });
  copyFileSync(join(installed, "LICENSE"), join(folder, `dist/licenses/LICENSE-${name}.txt`));
}
