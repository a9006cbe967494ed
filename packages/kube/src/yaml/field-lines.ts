import { EVENT_ID, getScalarValue, parseEvents } from "js-yaml";
import { MAX_DEPTH } from "./yaml.ts";

/** The lines of the fields of a document by their paths, and below an empty path that of the document itself. The first line is 1. */
export type FieldLines = ReadonlyMap<string, number>;

/** A mapping or a list that is being read. */
interface Parent {
  readonly path: string;
  readonly isList: boolean;
  /** Items that were read, or whether a key is next: each second value of a mapping is one. */
  count: number;
  key: { readonly text: string; readonly line: number } | undefined;
}

/**
 * The lines of the fields of each document of a text that `parseYaml` accepts. What an alias stands for has the line of the alias.
 *
 * @param joinPath how a path and a key make the path of a field
 */
export function fieldLines(
  text: string,
  joinPath: (path: string, key: string | number) => string,
): readonly FieldLines[] {
  const documents: Map<string, number>[] = [];
  const parents: (Parent | undefined)[] = [];
  let [line, read] = [1, 0];
  const lineAt = (offset: number): number => {
    for (; read < offset; read++) if (text[read] === "\n") line++;
    return line;
  };
  /** Begins a value, and returns its path; undefined for a key. */
  const begin = (offset: number, keyText: string): string | undefined => {
    const at = lineAt(offset);
    const parent = parents.at(-1);
    let path = "";
    if (parent?.isList === false && parent.count++ % 2 === 0) {
      parent.key = { text: keyText, line: at };
      return undefined;
    }
    if (parent?.isList === true) path = joinPath(parent.path, parent.count++);
    else if (parent?.key !== undefined) path = joinPath(parent.path, parent.key.text);
    documents.at(-1)?.set(path, parent?.key?.line ?? at);
    return path;
  };
  for (const event of parseEvents(text, { maxDepth: MAX_DEPTH })) {
    if (event.type === EVENT_ID.DOCUMENT) {
      documents.push(new Map());
      parents.push(undefined);
    } else if (event.type === EVENT_ID.POP) parents.pop();
    else if (event.type === EVENT_ID.SCALAR) begin(Math.max(event.valueStart, read), getScalarValue(text, event));
    else if (event.type === EVENT_ID.ALIAS) begin(event.anchorStart, "");
    else {
      const path = begin(event.start, "") ?? "";
      parents.push({ path, isList: event.type === EVENT_ID.SEQUENCE, count: 0, key: undefined });
    }
  }
  return documents;
}
