/** Tags, or labels, by their keys. */
export type TagMap = Readonly<Record<string, string>>;

/**
 * All tags of something new: those of the class, and the driver's own. Those of the class cannot overwrite the driver's. Where a cloud does not take as many, the less needed of the driver's are left out, since a
 * class of MCM must go on working.
 *
 * @param own the driver's own, the most needed first
 * @param most how many the cloud takes
 * @param spelled how a key is compared, for clouds to which keys in other letters are the same. Default: as it is
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
