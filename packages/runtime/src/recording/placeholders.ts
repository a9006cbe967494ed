/** What is replaced in a recording, by what it is. */
export type PlaceholderKind =
  | "secret"
  | "token"
  | "page-token"
  | "user-data"
  | "account"
  | "subscription"
  | "tenant"
  | "client"
  | "project"
  | "service-account"
  | "email"
  | "key";

/** Names for values that must not be seen: the same value has the same name, as long as this object lives. */
export interface Placeholders {
  /** `<account-1>` for the first account. */
  nameOf(kind: PlaceholderKind, value: string): string;
  /** How many values of each kind have a name. */
  counts(): Readonly<Partial<Record<PlaceholderKind, number>>>;
}

/** Whether a text is the name of something that was replaced, and nothing else. */
export const isPlaceholder = (text: string): boolean => /^<[a-z-]+-\d+>$/.test(text);

/** Creates names that start at 1 for each kind. */
export function createPlaceholders(): Placeholders {
  const names = new Map<string, string>();
  const counts = new Map<PlaceholderKind, number>();
  return {
    nameOf(kind, value) {
      const known = names.get(value);
      if (known !== undefined) return known;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const name = `<${kind}-${count}>`;
      names.set(value, name);
      return name;
    },
    counts: () => Object.fromEntries(counts),
  };
}
