import { describe, expect, it } from "vitest";
import { directionProblem, folderCycle, mapProblems, readFolderMap } from "./folder-map.ts";

const table = `| folder        | what is in it |
| ------------- | ------------- |
| \`testing/\`    | fakes         |
| \`api/kinds/\`  | the kinds     |
| \`api/fields/\` | their parts   |
| (top)         | the rest      |
`;

const map = ["testing", "api/kinds", "api/fields", ""];

describe("the map in a README", () => {
  it("lists the folders in its order", () => {
    expect(
      readFolderMap(`# A\n\n| \`no/\` |\n\n## Where things are\n\nWords.\n\n${table}\n## B\n\n| \`no/\` |\n`),
    ).toEqual(map);
  });

  it.each([
    ["no such title", "# A\n"],
    ["words alone", "## Where things are\n\n`http/` reads requests.\n"],
    ["a table elsewhere", `## Elsewhere\n\n${table}`],
  ])("is none where a README has %s", (_, readme) => {
    expect(readFolderMap(readme)).toBeUndefined();
  });

  it("has every folder of the package, tests included", () => {
    expect(mapProblems(map, ["a.ts", "testing/a.ts", "api/kinds/deep/a.ts", "api/fields/a.ts"])).toEqual([]);
    expect(mapProblems(map, ["testing/a.ts", "api/kinds/a.ts", "api/a.ts", "new/a.test.ts"])).toEqual([
      "has no row for src/api/a.ts",
      "has no row for src/new/a.test.ts",
      "has a row for api/fields/, where no file is",
      "has a row for (top), where no file is",
    ]);
  });

  it("holds a file in the innermost of its folders", () => {
    expect(mapProblems(["api", "api/kinds"], ["api/kinds/a.ts"])).toEqual(["has a row for api/, where no file is"]);
    expect(directionProblem(["api/kinds", "api"], "api/a.ts", "api/kinds/a.ts")).toBe("api/ stands below api/kinds/");
  });
});

describe("directions between folders", () => {
  it("may have the files at the top above folders", () => {
    const topFirst = ["testing", "", "spec"];
    expect(directionProblem(topFirst, "driver.ts", "spec/a.ts")).toBeUndefined();
    expect(directionProblem(topFirst, "spec/a.ts", "driver.ts")).toBe("spec/ stands below (top)");
    expect(directionProblem(topFirst, "driver.ts", "testing/a.ts")).toBe("(top) stands below testing/");
  });

  it.each([
    ["testing/a.ts", "api/fields/a.ts"],
    ["api/kinds/a.ts", "api/kinds/deep/b.ts"],
    ["api/fields/a.ts", "clock.ts"],
    ["clock.ts", "random.ts"],
    ["index.ts", "testing/a.ts"],
    ["api/fields/a.test.ts", "testing/a.ts"],
    ["clock.test.ts", "index.ts"],
  ])("allow %s to import %s", (file, imported) => {
    expect(directionProblem(map, file, imported)).toBeUndefined();
  });

  it.each([
    ["api/fields/a.ts", "api/kinds/a.ts", "api/fields/ stands below api/kinds/"],
    ["clock.ts", "api/fields/a.ts", "(top) stands below api/fields/"],
    ["testing/a.ts", "index.ts", "a part of a package may not import the whole"],
    ["clock.ts", "index.ts", "a part of a package may not import the whole"],
  ])("forbid %s to import %s", (file, imported, problem) => {
    expect(directionProblem(map, file, imported)).toBe(problem);
  });
});

describe("circles of folders", () => {
  it("are found through other folders, and within one row of a map", () => {
    expect(
      folderCycle([
        ["a/x.ts", "b/x.ts"],
        ["b/y.ts", "c/x.ts"],
        ["c/y.ts", "a/z.ts"],
      ]),
    ).toBe("a/ > b/ > c/ > a/");
    expect(
      folderCycle([
        ["x.ts", "a/deep/x.ts"],
        ["a/deep/y.ts", "a/x.ts"],
        ["a/y.ts", "a/deep/x.ts"],
      ]),
    ).toBe("a/deep/ > a/ > a/deep/");
    expect(
      folderCycle([
        ["a/x.ts", "b.ts"],
        ["c.ts", "a/y.ts"],
      ]),
    ).toBe("a/ > (top) > a/");
  });

  it("do not come from tests, from index.ts, or from two ways to one folder", () => {
    expect(
      folderCycle([
        ["a/x.ts", "b/x.ts"],
        ["a/x.ts", "c/x.ts"],
        ["b/x.ts", "c/x.ts"],
        ["c/x.test.ts", "a/x.ts"],
        ["index.ts", "a/x.ts"],
        ["a/x.ts", "top.ts"],
        ["a/x.ts", "a/y.ts"],
      ]),
    ).toBeUndefined();
  });
});
