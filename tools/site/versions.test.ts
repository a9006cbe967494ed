import { expect, it } from "vitest";
import { refOf, versionMenu } from "./versions.ts";

const repository = "https://example.com/repository";
const documentsOf = (ref: string) => ({ text: ref, link: `${repository}/blob/${ref}/docs/README.md` });
const notes = { text: "Release notes", link: "/project/changelog" };

it("a site of main is not called a version, and links to the documents of released versions, newest first", () => {
  const tags = ["v0.9.0", "v0.10.0", "v0.2.1", "v0.11.0-rc.1", "nightly"];
  expect(versionMenu({ tags, repository })).toEqual({
    text: "main",
    items: [notes, documentsOf("v0.10.0"), documentsOf("v0.9.0"), documentsOf("v0.2.1")],
  });
  expect(versionMenu({ tags: [], repository })).toEqual({ text: "main", items: [notes] });
});

it("a site of a tag has its name, and links to main and to the other versions", () => {
  const sources = { tags: ["v0.1.0", "v0.2.0"], tag: "v0.1.0", repository };
  expect(versionMenu(sources)).toEqual({ text: "v0.1.0", items: [notes, documentsOf("main"), documentsOf("v0.2.0")] });
  expect(refOf(sources)).toBe("v0.1.0");
});

it("has not more versions than a menu can show", () => {
  const tags = Array.from({ length: 30 }, (_, index) => `v1.${index}.0`);
  expect(
    versionMenu({ tags, repository })
      .items.map(({ text }) => text)
      .slice(0, 3),
  ).toEqual(["Release notes", "v1.29.0", "v1.28.0"]);
  expect(versionMenu({ tags, repository }).items).toHaveLength(9);
});
