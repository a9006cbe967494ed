import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Facts of Go's types that are not in OpenAPI documents. */
export interface GoTypes {
  /** Whether a field that holds the zero value of its (scalar) type is left out; `schema` is the full name in the documents. */
  goesWhenEmpty(schema: string, key: string): boolean;
}

interface GoField {
  readonly type: string;
  readonly omitsEmpty: boolean;
}

interface GoStruct {
  readonly fields: ReadonlyMap<string, GoField>;
  /** Names of structs whose fields are part of this one. */
  readonly inlined: readonly string[];
}

/** The folder of each Go module whose types are served, by the beginning of their names in the documents. */
export function goModuleFolders(): Readonly<Record<string, string>> {
  const cwd = join(dirname(fileURLToPath(import.meta.url)), "../control-plane/kubernetes");
  const modules = {
    "io.k8s.api.": "k8s.io/api",
    "io.k8s.apimachinery.": "k8s.io/apimachinery",
    "io.k8s.apiextensions-apiserver.": "k8s.io/apiextensions-apiserver",
  };
  return Object.fromEntries(
    Object.entries(modules).map(([prefix, name]) => [
      prefix,
      execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", name], { cwd, encoding: "utf8" }).trim(),
    ]),
  );
}

/** Reads the types of a package when its first field is asked for. */
export function readGoTypes(folders: Readonly<Record<string, string>>): GoTypes {
  const packages = new Map<string, ReadonlyMap<string, GoStruct>>();

  const structsOf = (schema: string): ReadonlyMap<string, GoStruct> => {
    const place = schema.slice(0, schema.lastIndexOf("."));
    const known = packages.get(place);
    if (known !== undefined) return known;
    const [prefix, folder] = Object.entries(folders).find(([start]) => schema.startsWith(start)) ?? [];
    if (prefix === undefined || folder === undefined) throw new Error(`no Go module is known for ${schema}`);
    const file = join(folder, ...place.slice(prefix.length).split("."), "types.go");
    const extra = place.endsWith("apiextensions.v1") ? [join(dirname(file), "types_jsonschema.go")] : [];
    const structs = parseStructs([file, ...extra].map((name) => readFileSync(name, "utf8")).join("\n"));
    packages.set(place, structs);
    return structs;
  };

  const find = (structs: ReadonlyMap<string, GoStruct>, name: string, key: string): GoField | undefined => {
    const struct = structs.get(name);
    if (struct === undefined) return undefined;
    const own = struct.fields.get(key);
    if (own !== undefined) return own;
    for (const part of struct.inlined) {
      const found = find(structs, part, key);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return {
    goesWhenEmpty(schema, key) {
      const found = find(structsOf(schema), schema.slice(schema.lastIndexOf(".") + 1), key);
      return found !== undefined && found.omitsEmpty && !/^[*[]|^map\[/.test(found.type);
    },
  };
}

const fieldLine = /^\s+(?:\w+\s+)?(?<type>[^\s`]+)\s+`json:"(?<key>[^",]*)(?<options>[^"]*)"/;

function parseStructs(source: string): ReadonlyMap<string, GoStruct> {
  const structs = new Map<string, GoStruct>();
  for (const [, name = "", body = ""] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    const fields = new Map<string, GoField>();
    const inlined: string[] = [];
    for (const line of body.split("\n")) {
      const { type, key, options } = fieldLine.exec(line)?.groups ?? {};
      if (type === undefined || key === undefined || options === undefined) continue;
      if (key === "") inlined.push(type);
      else fields.set(key, { type, omitsEmpty: options.includes("omitempty") });
    }
    structs.set(name, { fields, inlined });
  }
  return structs;
}
