import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { ConfigError } from "@millwright/base";
import { joinPath } from "@millwright/core/machine-api";
import { firstLine, isApiObject, messageOf } from "@millwright/kube";
import { type FieldLines, fieldLines, parseYaml } from "@millwright/kube/yaml";
import type { ManifestObject } from "./cluster-state.ts";

/** Extensions of the files in a folder that are read. */
const endings: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"]);

const hasItems = (value: object): value is { readonly items: readonly unknown[] } =>
  "items" in value && Array.isArray(value.items);

type Locate = NonNullable<ManifestObject["locate"]>;

/** The path of what a field is in. */
const parentOf = (path: string): string => path.replace(/(\[[^\]]*\]|(^|\.)[^.[\]]*)$/, "");

/** Finds lines of the documents of a text, which is parsed again for it. Drivers may read keys in any case. */
function locatorsOf(file: string, content: string): (document: number) => Locate {
  let lines: readonly FieldLines[] | undefined;
  const read = (): readonly FieldLines[] => {
    try {
      return fieldLines(content, (path, key) => joinPath(path, key).toLowerCase());
    } catch {
      // JSON that is no YAML.
      return [];
    }
  };
  return (document) => (path) => {
    lines ??= read();
    for (let at = path.toLowerCase(); ; at = parentOf(at)) {
      const line = lines[document]?.get(at);
      if (line !== undefined) return { file, line };
      if (at === "") return undefined;
    }
  };
}

/** The object of a document, or the items of a list. */
function objectsOf(source: string, value: unknown, locate: Locate, path = ""): readonly ManifestObject[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(`${source}: not an object; expected a manifest with apiVersion, kind and metadata`);
  }
  if ("kind" in value && String(value.kind).endsWith("List") && hasItems(value)) {
    return value.items.flatMap((item, index) =>
      objectsOf(`${source}, item ${index + 1}`, item, locate, joinPath(joinPath(path, "items"), index)),
    );
  }
  if (!isApiObject(value))
    throw new ConfigError(`${source}: metadata is missing; expected a manifest with apiVersion, kind and metadata`);
  return [{ source, object: value, locate: (field) => locate(path === "" ? field : `${path}.${field}`) }];
}

/** JSON is YAML as well, but a dump of a cluster is read a hundred times faster as what it is. */
function parseJson(content: string): readonly unknown[] | undefined {
  if (!/^\s*\{/.test(content)) return undefined;
  try {
    return [JSON.parse(content)];
  } catch {
    return undefined;
  }
}

function parseDocuments(file: string, content: string): readonly unknown[] {
  try {
    return parseJson(content) ?? parseYaml(content);
  } catch (cause) {
    throw new ConfigError(`${file}: cannot be read: ${firstLine(messageOf(cause))}`, { cause });
  }
}

/** Reads the objects of a text in YAML or JSON, one or many documents. `file` is for messages. */
export function parseManifests(file: string, content: string): readonly ManifestObject[] {
  const documents = parseDocuments(file, content);
  const locators = locatorsOf(file, content);
  return documents.flatMap((value, index) => {
    const source = documents.length === 1 ? file : `${file}, document ${index + 1}`;
    return value === null || value === undefined ? [] : objectsOf(source, value, locators(index));
  });
}

async function filesIn(path: string): Promise<readonly string[]> {
  const isFolder = (await stat(path)).isDirectory();
  if (!isFolder) return [path];
  const names = (await readdir(path)).filter((name) => endings.has(extname(name))).toSorted();
  return names.map((name) => join(path, name));
}

async function readPath(path: string): Promise<readonly ManifestObject[]> {
  const files = await filesIn(path);
  const contents = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return files.flatMap((file, index) => parseManifests(file, contents[index] ?? ""));
}

/**
 * Reads manifests from a file, a folder of files (YAML and JSON, without subfolders), or standard input (`-`).
 *
 * @throws ConfigError that names file, document and problem; also for a path without objects
 */
export async function readManifests(path: string, input: Readable = process.stdin): Promise<readonly ManifestObject[]> {
  const isStandardInput = path === "-";
  const name = isStandardInput ? "standard input" : path;
  try {
    const objects = isStandardInput ? parseManifests(name, await text(input)) : await readPath(path);
    if (objects.length > 0) return objects;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${name}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
  throw new ConfigError(`${name}: has no object; expected manifests in YAML or JSON`);
}
