import { posix } from "node:path";

/** The part of a package.json that decides when nx repeats the result of the tests instead of running them. */
export interface TestedPackage {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly nx?: { readonly targets?: { readonly test?: { readonly inputs?: readonly TestInput[] } } };
}

type TestInput = string | { readonly input: string; readonly projects: readonly string[] };

/** A path or a package in the text of a file. */
export interface Mention {
  readonly line: number;
  readonly text: string;
}

const inputsOf = (tested: TestedPackage): readonly TestInput[] => tested.nx?.targets?.test?.inputs ?? [];

/** The packages of this repository whose sources are inputs of the tests of a package: itself, what it depends on, and what its inputs name. */
export function inputPackages(tested: TestedPackage, all: ReadonlyMap<string, TestedPackage>): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    const one = all.get(name);
    if (one === undefined || found.has(name)) return;
    found.add(name);
    for (const next of Object.keys({ ...one.dependencies, ...one.devDependencies, ...one.peerDependencies })) add(next);
  };
  add(tested.name);
  for (const input of inputsOf(tested)) if (typeof input === "object") for (const name of input.projects) add(name);
  return found;
}

/** Names of packages of this repository in string literals: what a file imports, or loads by its name. */
export const mentionedPackages = (source: string): readonly Mention[] =>
  mentions(source, /["'](?<text>@millwright\/[a-z-]+)/g);

/**
 * Paths that leave the package, relative to the root of the repository.
 *
 * @param file its path relative to the root
 * @param folder that of the package
 */
export function pathsOutside(file: string, folder: string, source: string): readonly Mention[] {
  // Joined by slashes, or as arguments of `join`.
  const separator = `(?:/|",\\s*")`;
  const climb = `(?<!\\.)\\.\\.(?:${separator}\\.\\.)*(?!\\.)`;
  return mentions(source, new RegExp(`(?<text>${climb}(?:${separator}[^"'\`\\s]*)?)`, "g"))
    .map(({ line, text }) => ({
      line,
      text: posix.join(posix.dirname(file), text.replaceAll(/",\s*"/g, "/")),
    }))
    .filter(({ text }) => text !== folder && !text.startsWith(`${folder}/`));
}

/** Whether a path from `pathsOutside` is an input. One that ends at the root may lead anywhere: then any input outside of the package is taken for it. */
export function isInput(path: string, tested: TestedPackage): boolean {
  const globs = inputsOf(tested).flatMap((input) =>
    typeof input === "string" && input.startsWith("{workspaceRoot}/") ? [input.slice("{workspaceRoot}/".length)] : [],
  );
  const isRoot = path === "." || path === "./";
  return globs.some((glob) => isRoot || posix.matchesGlob(path, glob));
}

function mentions(source: string, pattern: RegExp): readonly Mention[] {
  return [...source.matchAll(pattern)].map((match) => ({
    line: source.slice(0, match.index).split("\n").length,
    text: match.groups?.["text"] ?? "",
  }));
}
