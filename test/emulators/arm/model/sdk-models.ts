import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Declarations, readDeclarations } from "./declarations.ts";

/** One path of an API, as the SDK sends it. */
export interface PublishedRoute {
  readonly method: string;
  readonly path: RegExp;
  /** Parameters of the query. */
  readonly query: ReadonlySet<string>;
}

/** The API model in a package of the SDK. */
export interface SdkModels {
  readonly declarations: Declarations;
  readonly routes: readonly PublishedRoute[];
  /** The function by which the SDK reads a structure. */
  reader(structure: string): (body: unknown) => unknown;
}

const require = createRequire(import.meta.url);

/** Reads the model in a package of Azure's SDK: declarations of structures, the functions that read them, the paths of requests. */
export function readSdkModels(name: string, modelFolders: readonly string[]): SdkModels {
  const folder = dirname(require.resolve(name));
  const files = modelFolders.map((models) => join(folder, "models", models, "models"));
  const functions: readonly object[] = files.map((file): object => require(`${file}.js`));
  return {
    declarations: readDeclarations(files.map((file) => `${file}.d.ts`)),
    routes: readdirSync(join(folder, "api"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => readRoutes(join(folder, "api", entry.name, "operations.js"))),
    reader(structure) {
      const name = `${structure.replace(/[A-Z]/, (letter) => letter.toLowerCase())}Deserializer`;
      const found = functions
        .map((file): unknown => Reflect.get(file, name))
        .find((each) => typeof each === "function");
      if (typeof found !== "function") throw new Error(`the SDK has no function ${name}`);
      return (body) => Reflect.apply(found, undefined, [body]);
    },
  };
}

const routePattern = /expandUrlTemplate\)\(\s*"([^"]+)".*?\.path\(path\)\s*\.(\w+)\(/gs;

function readRoutes(file: string): readonly PublishedRoute[] {
  return [...readFileSync(file, "utf8").matchAll(routePattern)].map(([, template = "", method = ""]) => {
    const [path = "", query = ""] = template.split("{?");
    const pattern = path.replaceAll(/[.$]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, "[^/]+");
    return {
      method: method.toUpperCase(),
      path: new RegExp(`^${pattern}$`, "i"),
      query: new Set(query.replace("}", "").split(",").map(decodeURIComponent)),
    };
  });
}
