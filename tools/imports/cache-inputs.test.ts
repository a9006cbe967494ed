import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inputPackages, isInput, mentionedPackages, pathsOutside, type TestedPackage } from "./cache-inputs.ts";

const root = join(import.meta.dirname, "../..");

const packageAt = (folder: string): TestedPackage =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

/** All but `tools` and `test`, whose inputs are everything. */
const folders = ["packages", "providers"]
  .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
  .filter((folder) => existsSync(join(root, folder, "package.json")))
  .concat("test/emulators");
const all = new Map(folders.map(packageAt).map((each) => [each.name, each]));

const sourcesOf = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.[jt]s$/.test(file) && !/(^|\/)(dist|node_modules)\//.test(file))
    .map((file) => `${folder}/${file}`);

it("finds packages that are loaded by name, and paths out of the package", () => {
  const source = `import x from "@millwright/kube";
const root = join(here, "..", "..", "..");
readFile(new URL("../../../../docs/README.md", import.meta.url));
const inside = ["../../README.md", ...rest];`;
  expect(mentionedPackages(source)).toEqual([{ line: 1, text: "@millwright/kube" }]);
  expect(pathsOutside("packages/kube/src/a.ts", "packages/kube", source)).toEqual([
    { line: 2, text: "." },
    { line: 3, text: "../docs/README.md" },
    { line: 4, text: "packages/README.md" },
  ]);
  expect(pathsOutside("packages/kube/src/b/a.ts", "packages/kube", source)).toEqual([
    { line: 2, text: "packages" },
    { line: 3, text: "docs/README.md" },
  ]);
});

it("knows what is an input: dependencies at any depth, named packages and files", () => {
  const tested: TestedPackage = {
    name: "a",
    dependencies: { b: "1" },
    nx: {
      targets: { test: { inputs: ["sources", "{workspaceRoot}/docs/*.md", { input: "sources", projects: ["d"] }] } },
    },
  };
  const others: TestedPackage[] = [
    { name: "b", devDependencies: { c: "1" } },
    { name: "c" },
    { name: "d" },
    { name: "e" },
  ];
  const packages = new Map([tested, ...others].map((each) => [each.name, each]));
  expect([...inputPackages(tested, packages)]).toEqual(["a", "b", "c", "d"]);
  expect(["docs/README.md", ".", "README.md"].map((path) => isInput(path, tested))).toEqual([true, true, false]);
  expect(isInput(".", { name: "b" })).toBe(false);
});

it.each(folders)("every file and package that %s mentions is an input of its tests", (folder) => {
  const tested = packageAt(folder);
  const inputs = inputPackages(tested, all);
  const problems = sourcesOf(folder).flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const outside = pathsOutside(file, folder, source).filter(({ text }) => !isInput(text, tested));
    const unknown = mentionedPackages(source).filter(({ text }) => all.has(text) && !inputs.has(text));
    return [...outside, ...unknown].map(
      ({ line, text }) => `${file}:${line}: ${text} must be an input of the target "test"`,
    );
  });
  expect(problems).toEqual([]);
});
