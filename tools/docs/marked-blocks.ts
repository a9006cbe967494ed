/** Marks in a document: everything between them belongs to the generator. */
const opening = /^<!-- generated:([a-z-]+) -->$/;
const closing = "<!-- /generated -->";

/** A document with its blocks filled, and the names of those that it has. */
export interface FilledDocument {
  readonly text: string;
  readonly used: readonly string[];
}

/**
 * Replaces what stands between `<!-- generated:NAME -->` and `<!-- /generated -->`, each on a line of its own, by the block of that name. Text
 * outside of the marks stays as it is; a document without marks comes back unchanged.
 *
 * Throws with file and line for an unknown name, and for an unmatched mark.
 */
export function fillBlocks(file: string, text: string, blocks: ReadonlyMap<string, string>): FilledDocument {
  const lines: string[] = [];
  const used: string[] = [];
  let open: { readonly name: string; readonly line: number } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const where = `${file}:${index + 1}`;
    const name = opening.exec(line)?.[1];
    if (name !== undefined) {
      if (open !== undefined) throw new Error(`${where}: block "${open.name}" of line ${open.line} is not closed yet`);
      const block = blocks.get(name);
      if (block === undefined) {
        throw new Error(`${where}: nothing generates "${name}"; expected one of ${[...blocks.keys()].join(", ")}`);
      }
      open = { name, line: index + 1 };
      used.push(name);
      lines.push(line, "", block.trim(), "");
    } else if (line === closing) {
      if (open === undefined) throw new Error(`${where}: closes a block that was never opened`);
      open = undefined;
      lines.push(line);
    } else if (open === undefined) {
      lines.push(line);
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: block "${open.name}" is never closed`);
  return { text: lines.join("\n"), used };
}
