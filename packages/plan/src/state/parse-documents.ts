import { messageOf } from "@millwright/kube";
import { type Document, isMap, isScalar, parseAllDocuments, visit } from "yaml";

/** A document of a text, as a plain value, or what is wrong with it. Of an empty document the value is null or undefined. */
export type ParsedDocument =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Aliases that one document may expand to: a file must not become larger than memory. */
const MAX_ALIASES = 100;

/** Kubernetes objects are a few levels deep; their readers are recursive. */
const MAX_DEPTH = 200;

/** What is wrong and where, without the excerpt of the file that follows. */
const firstLineOf = (error: unknown): string => messageOf(error).split("\n")[0]?.replace(/:$/, "") ?? "";

const rejectDocument = (problem: string): ParsedDocument => ({ ok: false, problem });

/** Rejects a value that is nested too deeply, without recursion. */
function accept(value: unknown): ParsedDocument {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return rejectDocument(`nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return { ok: true, value };
}

function parseJson(content: string): ParsedDocument | undefined {
  try {
    return accept(JSON.parse(content));
  } catch {
    return undefined;
  }
}

/** The first key that occurs twice in a mapping. The parser's own search compares every key with every other: a mapping of a megabyte takes it minutes. */
function repeatedKey(document: Document.Parsed): string | undefined {
  let repeated: string | undefined;
  visit(document, (_, node) => {
    if (!isMap(node)) return undefined;
    const keys = new Set<unknown>();
    for (const { key } of node.items) {
      const name: unknown = isScalar(key) ? key.value : key;
      if (keys.has(name)) {
        repeated = String(name);
        return visit.BREAK;
      }
      keys.add(name);
    }
    return undefined;
  });
  return repeated;
}

function readDocument(document: Document.Parsed): ParsedDocument {
  const [problem] = document.errors;
  if (problem !== undefined) return rejectDocument(firstLineOf(problem));
  try {
    const repeated = repeatedKey(document);
    return repeated === undefined
      ? accept(document.toJS({ maxAliasCount: MAX_ALIASES }))
      : rejectDocument(`the key "${repeated}" occurs twice in one mapping`);
  } catch (error) {
    return rejectDocument(firstLineOf(error));
  }
}

/** Parses a text in YAML or JSON, one or many documents; none for an empty text. */
export function parseDocuments(content: string): readonly ParsedDocument[] {
  // JSON is YAML as well, but a dump of a cluster is read a hundred times faster as what it is.
  const json = /^\s*\{/.test(content) ? parseJson(content) : undefined;
  if (json !== undefined) return [json];
  const documents = parseAllDocuments(content, { prettyErrors: true, uniqueKeys: false });
  // An empty text is one value, not a list.
  return Array.isArray(documents) ? documents.map((document) => readDocument(document)) : [];
}
