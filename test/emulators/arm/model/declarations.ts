import { readFileSync } from "node:fs";

/** A member of a structure, as the SDK declares it. */
export interface DeclaredMember {
  readonly isRequired: boolean;
  /** As declared: `string`, `DataDisk[]`, `Record<string, string>`, a union of texts. */
  readonly type: string;
}

/** The structures and enums of a file of declarations. */
export interface Declarations {
  /** All members of a structure, including inherited ones; undefined for an unknown structure. */
  membersOf(structure: string): ReadonlyMap<string, DeclaredMember> | undefined;
  /** The values of an enum in lower case, as Azure compares them. */
  valuesOf(type: string): ReadonlySet<string> | undefined;
  /** The type of an alias. */
  aliasOf(type: string): string | undefined;
}

const structurePattern = /^export interface (\w+)(?: extends ([\w, ]+))? \{\n(.*?)^\}/gms;
const memberPattern = /^ {4}(?:readonly )?(\w+)(\??): (.+);$/gm;
const enumPattern = /^export declare enum Known(\w+) \{\n(.*?)^\}/gms;
const aliasPattern = /^export type (\w+) = (.+);$/gm;
const textPattern = /"([^"]*)"/g;

const textsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(textPattern)].map(([, value = ""]) => value.toLowerCase()));

/** Reads files of declarations. Of two declarations with one name the last one counts. */
export function readDeclarations(files: readonly string[]): Declarations {
  const structures = new Map<
    string,
    { readonly parents: readonly string[]; readonly own: Map<string, DeclaredMember> }
  >();
  const enums = new Map<string, ReadonlySet<string>>();
  const aliases = new Map<string, string>();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    for (const [, name = "", parents = "", body = ""] of text.matchAll(structurePattern)) {
      const members = [...body.matchAll(memberPattern)].map(
        ([, member = "", optional, type = ""]) => [member, { isRequired: optional === "", type }] as const,
      );
      structures.set(name, { parents: parents.split(", ").filter((parent) => parent !== ""), own: new Map(members) });
    }
    for (const [, name = "", body = ""] of text.matchAll(enumPattern)) enums.set(name, textsIn(body));
    for (const [, name = "", type = ""] of text.matchAll(aliasPattern)) aliases.set(name, type);
  }
  const inherited = (structure: string): ReadonlyMap<string, DeclaredMember> => {
    const members = membersOf(structure);
    if (members === undefined) throw new Error(`the SDK declares no structure ${structure}`);
    return members;
  };
  const allMembers = new Map<string, ReadonlyMap<string, DeclaredMember>>();
  const membersOf = (structure: string): ReadonlyMap<string, DeclaredMember> | undefined => {
    const found = structures.get(structure);
    if (found === undefined) return undefined;
    const members =
      allMembers.get(structure) ??
      new Map([...found.parents.flatMap((parent) => [...inherited(parent)]), ...found.own]);
    allMembers.set(structure, members);
    return members;
  };
  return {
    membersOf,
    valuesOf(type) {
      const known = enums.get(type);
      if (known !== undefined) return known;
      const alias = aliases.get(type) ?? type;
      if (!/^"[^"]*"( \| "[^"]*")*$/.test(alias)) return undefined;
      const values = textsIn(alias);
      enums.set(type, values);
      return values;
    },
    aliasOf: (type) => aliases.get(type),
  };
}
