/** The names of what may be undefined. */
type Optional<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];

/** An object whose undefined fields are absent. */
export type Present<T> = { [Key in Exclude<keyof T, Optional<T>>]: T[Key] } & {
  [Key in Optional<T>]?: Exclude<T[Key], undefined>;
};

/** Leaves out undefined fields: the contract and protobuf distinguish absent from anything else. */
export function present<T extends object>(fields: T): Present<T> {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(fields);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Present<T>;
}

/** A map, or nothing for an empty one: protobuf does not distinguish them. */
export const nonEmpty = <T>(map: Readonly<Record<string, T>> | undefined): Readonly<Record<string, T>> | undefined =>
  map === undefined || Object.keys(map).length === 0 ? undefined : map;
