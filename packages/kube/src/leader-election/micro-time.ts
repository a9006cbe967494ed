/**
 * A time as `MicroTime` fields of the API want it: exactly six fraction digits. With the three of `toISOString` a kube-apiserver
 * refuses the object.
 */
export function formatMicroTime(date: Date): string {
  return date.toISOString().replace(/Z$/, "000Z");
}
