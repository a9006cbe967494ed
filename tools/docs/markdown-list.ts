/** Longest line of an item. */
const width = 150;

/** Words that would start a list, a heading, a quote or a table if they began a line. */
const startsBlock = /^([-+*>|#]|\d+[.)]$)/;

/** An item of a Markdown list: each of its parts begins a line and continues, indented, on the next ones. */
export function listItem(parts: readonly string[], indent = ""): string {
  const lines: string[] = [];
  for (const part of parts) {
    let line = "";
    for (const word of part.split(/\s+/)) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (longer.length + indent.length + 2 > width && line !== "" && !startsBlock.test(word)) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    lines.push(line);
  }
  return lines.map((line, index) => `${indent}${index === 0 ? "- " : "  "}${line}`).join("\n");
}
