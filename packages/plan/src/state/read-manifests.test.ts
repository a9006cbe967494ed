import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseManifests, readManifests } from "./read-manifests.ts";

const namesIn = (text: string): readonly string[] =>
  parseManifests("f.yaml", text).map(({ source, object }) => `${source}: ${object.kind} ${object.metadata.name}`);

describe("parseManifests", () => {
  it("reads one document, several, and lists", () => {
    expect(namesIn("kind: A\nmetadata: {name: a}\n")).toEqual(["f.yaml: A a"]);
    expect(namesIn("kind: A\nmetadata: {name: a}\n---\n---\nkind: B\nmetadata: {name: b}\n")).toEqual([
      "f.yaml, document 1: A a",
      "f.yaml, document 3: B b",
    ]);
    const items = [{ kind: "A", metadata: { name: "a" } }];
    expect(namesIn(JSON.stringify({ kind: "List", items }))).toEqual(["f.yaml, item 1: A a"]);
    expect(namesIn("")).toEqual([]);
    expect(namesIn("# nothing\n")).toEqual([]);
  });

  it.each([
    ["invalid YAML", "a: [", "f.yaml: cannot be read: "],
    ["a value that is no object", "- 1\n", "f.yaml: not an object"],
    ["an object without metadata", "kind: A\n", "f.yaml: metadata is missing"],
    [
      "aliases without end",
      `a: &a [x]\n${"bcdefgh"
        .split("")
        .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`)
        .join("\n")}\nmetadata: {}\n`,
      "cannot be read: ",
    ],
  ])("refuses %s", (_, text, message) => {
    expect(() => parseManifests("f.yaml", text)).toThrow(message);
  });
});

describe("readManifests", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "manifests-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("reads the files of a folder in order, and no others", async () => {
    await writeFile(join(folder, "b.yml"), "kind: B\nmetadata: {name: b}\n");
    await writeFile(join(folder, "a.json"), '{"kind":"A","metadata":{"name":"a"}}');
    await writeFile(join(folder, "notes.txt"), "none");
    expect((await readManifests(folder)).map(({ object }) => object.kind)).toEqual(["A", "B"]);
  });

  it("reads standard input, and reports when it is empty", async () => {
    const [read] = await readManifests("-", Readable.from(["kind: A\n", "metadata: {name: a}\n"]));
    expect(read).toMatchObject({ source: "standard input", object: { kind: "A" } });
    await expect(readManifests("-", Readable.from([]))).rejects.toThrow("standard input: has no object");
  });

  it("names what is not there, and what is empty", async () => {
    await expect(readManifests(join(folder, "x.yaml"))).rejects.toThrow(/x\.yaml: cannot be read: .*ENOENT/);
    await expect(readManifests(folder)).rejects.toThrow("has no object");
  });
});
