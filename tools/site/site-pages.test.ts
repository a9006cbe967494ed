import { describe, expect, it } from "vitest";
import { documentPages } from "../docs/document-pages.ts";
import { isProjectPage, sidebarOf, siteFiles, sitePath } from "./site-pages.ts";

const repository = "https://example.com/repository";
const sourcesOf = (pages: Readonly<Record<string, string>>) => ({
  pages: new Map(Object.entries(pages)),
  repository,
  ref: "v1.0.0",
});

describe("the pages of the site", () => {
  it.each([
    ["README.md", "index.md"],
    ["docs/README.md", "contents.md"],
    ["docs/metrics.md", "metrics.md"],
    ["docs/guides/aws.md", "guides/aws.md"],
    ["docs/drivers/README.md", "drivers/index.md"],
    ["packages/cli/README.md", "packages/cli/index.md"],
    ["SECURITY.md", "project/security.md"],
    ["docs/project/README.md", "project/index.md"],
    ["docs/project/decisions/drain.md", "project/decisions/drain.md"],
    ["packages/kube/README.md", "project/packages/kube/index.md"],
    ["test/emulators/README.md", "project/test/emulators/index.md"],
  ])("%s is %s", (source, path) => expect(sitePath(source)).toBe(path));

  it("are those that links lead to, with their pictures, and links to other files lead to the repository", () => {
    const files = siteFiles(
      ["README.md"],
      sourcesOf({
        "README.md": "[a](docs/a.md#one) [package](packages/p) [code](src/x.ts#L1) [out](https://example.org/)",
        "docs/a.md": "![p](p.png) [home](../README.md) [here](#one)\n```md\n[kept](b.md)\n```\n[b](b.md)",
        "docs/b.md": "",
        "packages/p/README.md": "[license](../../LICENSE)",
        "packages/other/README.md": "",
      }),
    );
    expect(Object.fromEntries(files.map(({ path, text }) => [path, text]))).toEqual({
      "index.md": `[a](/a.md#one) [package](/project/packages/p/) [code](${repository}/blob/v1.0.0/src/x.ts#L1) [out](https://example.org/)`,
      "a.md": "![p](/p.png) [home](/) [here](#one)\n```md\n[kept](b.md)\n```\n[b](/b.md)",
      "b.md": "",
      "project/packages/p/index.md": `[license](${repository}/blob/v1.0.0/LICENSE)`,
      "p.png": undefined,
    });
  });

  it("are in the sidebar as the map has them, each once", () => {
    const map =
      "# Map\n\n## One\n\n- [A](a.md), [B](b.md#x): text\n- [Out](https://example.org)\n\n## Two\n\n- [A](a.md)\n\n## Three\n\n- [Home](../README.md)";
    const sources = sourcesOf({ "docs/README.md": map, "docs/a.md": "", "docs/b.md": "", "README.md": "" });
    expect(sidebarOf("docs/README.md", sources)).toEqual([
      {
        text: "One",
        items: [
          { text: "A", link: "/a.md" },
          { text: "B", link: "/b.md" },
        ],
      },
      { text: "Three", items: [{ text: "Home", link: "/" }] },
    ]);
  });
});

describe("of the documents", async () => {
  const pages = new Map((await documentPages()).map(({ file, text }) => [file, text]));
  const addressesOf = (map: string): readonly string[] =>
    sidebarOf(map, { pages, repository, ref: "main" }).flatMap(({ items }) => items.map(({ link }) => link));
  const addressOf = (file: string): string => `/${sitePath(file)}`.replace(/index\.md$/, "");
  const maps = ["docs/README.md", "docs/project/README.md"];
  const documents = [...pages.keys()].filter((file) => file.startsWith("docs/") && !maps.includes(file));

  it("the map for users has every page for users", () => {
    const named = addressesOf("docs/README.md");
    expect(documents.filter((file) => !isProjectPage(file) && !named.includes(addressOf(file)))).toEqual([]);
  });

  it("the map for users leads to the project book, and to none of its pages about the inside", () => {
    const project = addressesOf("docs/README.md").filter((address) => address.startsWith("/project/"));
    expect(project).toEqual(["/project/security.md", "/project/changelog.md", "/project/contributing.md", "/project/"]);
  });

  it("the map of the project book has every page of it", () => {
    const named = addressesOf("docs/project/README.md");
    const book = [...pages.keys()].filter(
      (file) => isProjectPage(file) && !maps.includes(file) && !file.includes("/template/"),
    );
    expect(book.filter((file) => !named.includes(addressOf(file)))).toEqual([]);
  });
});
