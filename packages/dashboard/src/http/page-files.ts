import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly content: string;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const typeOf = (name: string): string | undefined => types[name.slice(name.lastIndexOf(".") + 1)];

/** Where browsers find what modules import by a name. A browser resolves names only by an inline script, which the content security policy forbids. */
const libraries: Readonly<Record<string, string>> = { preact: "/lib/preact.js" };

/** A module in which names of libraries are paths. */
const withPaths = (source: string): string =>
  source.replaceAll(/(\bfrom\s*)"([a-z][\w/-]*)"/g, (whole, before: string, name: string) => {
    const path = libraries[name];
    return path === undefined ? whole : `${before}"${path}"`;
  });

/** The files of the page by their path. The folder is the same from the sources and from the build; only what is in it can be read. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = new URL("../../page/", import.meta.url);
  const files = new Map<string, PageFile>();
  const names = await readdir(folder, { recursive: true });
  for (const name of names.map((each) => each.replaceAll("\\", "/"))) {
    const type = typeOf(name);
    if (type === undefined) continue;
    const content = await readFile(new URL(name, folder), "utf8");
    files.set(name === "index.html" ? "/" : `/${name}`, { type, content: withPaths(content) });
  }
  for (const [name, path] of Object.entries(libraries)) {
    const content = await readFile(fileURLToPath(import.meta.resolve(name)), "utf8");
    files.set(path, { type: types["js"] ?? "", content: content.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n") });
  }
  return files;
}
