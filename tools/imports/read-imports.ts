import { parseSync } from "oxc-parser";
import type { FoundImport } from "./import-rules.ts";

/** Lists the imports, re-exports and `import()` calls of one TypeScript source. Throws when it does not parse. */
export function readImports(file: string, source: string): readonly FoundImport[] {
  const { module, errors } = parseSync(file, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const lineAt = (offset: number): number => source.slice(0, offset).split("\n").length;

  const found: FoundImport[] = [];
  for (const statement of module.staticImports) {
    // `import "x"` has no entries and runs the module; only a statement whose every entry is a type is erased.
    const erased = statement.entries.length > 0 && statement.entries.every((entry) => entry.isType);
    const kind = erased ? "type" : "static";
    found.push({ file, line: lineAt(statement.start), specifier: statement.moduleRequest.value, kind });
  }
  for (const statement of module.staticExports) {
    const [first] = statement.entries;
    if (first?.moduleRequest == null) continue;
    const kind = statement.entries.every((entry) => entry.isType) ? "type" : "static";
    found.push({ file, line: lineAt(statement.start), specifier: first.moduleRequest.value, kind });
  }
  for (const call of module.dynamicImports) {
    const argument = source.slice(call.moduleRequest.start, call.moduleRequest.end);
    const literal = /^["'](.+)["']$/.exec(argument)?.[1];
    if (literal !== undefined) found.push({ file, line: lineAt(call.start), specifier: literal, kind: "dynamic" });
  }
  return found;
}
