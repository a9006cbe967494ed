/** Tags, or labels, by their keys. */
export type TagMap = Readonly<Record<string, string>>;

/**
 * All tags of a new resource: those of the class, and the driver's own, which the class cannot overwrite. If the cloud does not allow as many, the less important ones of the driver are omitted, so that
 * classes of MCM keep working.
 *
 * @param own the driver's own, the most important first
 * @param most maximum number of tags
 * @param spelled normalizes a key for comparison, for clouds whose keys ignore case. Default: as it is
 */
export function withOwnTags(
  given: TagMap,
  own: TagMap,
  most: number,
  spelled: (key: string) => string = (key) => key,
): Record<string, string> {
  const ownKeys = new Set(Object.keys(own).map(spelled));
  const others = Object.entries(given).filter(([key]) => !ownKeys.has(spelled(key)));
  return Object.fromEntries([...others, ...Object.entries(own).slice(0, Math.max(0, most - others.length))]);
}
