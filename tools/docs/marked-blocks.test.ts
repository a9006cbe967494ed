import { describe, expect, it } from "vitest";
import { fillBlocks } from "./marked-blocks.ts";

const blocks = new Map([
  ["one", "first\n"],
  ["two", "second"],
]);
const document = (body: string): string => `# Title\n\n<!-- generated:one -->${body}<!-- /generated -->\n\nend\n`;

describe("fillBlocks", () => {
  it("replaces only the text between the marks", () => {
    const { text, used } = fillBlocks("a.md", document("\nold text\n"), blocks);
    expect(text).toBe(document("\n\nfirst\n\n"));
    expect(used).toEqual(["one"]);
  });

  it("changes nothing when the blocks are up to date, and nothing in a document without marks", () => {
    const { text } = fillBlocks("a.md", document("\n"), blocks);
    expect(fillBlocks("a.md", text, blocks).text).toBe(text);
    expect(fillBlocks("a.md", "no marks\n", blocks)).toEqual({ text: "no marks\n", used: [] });
  });

  it.each([
    ["an unknown name", "<!-- generated:three -->\n<!-- /generated -->", 'a.md:1: nothing generates "three"'],
    ["a block that is never closed", "x\n<!-- generated:one -->", 'a.md:2: block "one" is never closed'],
    ["a block within a block", "<!-- generated:one -->\n<!-- generated:two -->", 'a.md:2: block "one" of line 1'],
    ["an end without a beginning", "<!-- /generated -->", "a.md:1: closes a block"],
  ])("refuses %s with its line", (_, text, message) => {
    expect(() => fillBlocks("a.md", text, blocks)).toThrow(message);
  });
});
