import { readFile } from "node:fs/promises";

const template = new URL("../../packages/create-driver/template/package.template.json", import.meta.url);

/** What an author of a driver installs: the generator, and all that the package depends on that it writes. */
export async function driverPackages(): Promise<readonly string[]> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(template, "utf8")) as Record<string, object>;
  return ["create-millwright-driver", ...Object.keys({ ...dependencies, ...devDependencies })];
}
