import { isJsonObject, type Json } from "./request-script.ts";

/**
 * The part of two responses that both servers have: in lists with named items, the items that are in both, by name.
 * For discovery, because our server serves only a part of Kubernetes' resources.
 */
export function sharedPart(real: Json, ours: Json): readonly [Json, Json] {
  if (Array.isArray(real) && Array.isArray(ours)) {
    const byName = new Map(ours.map((item: Json) => [nameOf(item), item]));
    if (byName.has(undefined)) return [real, ours];
    const pairs = real
      .toSorted((a: Json, b: Json) => ((nameOf(a) ?? "") < (nameOf(b) ?? "") ? -1 : 1))
      .flatMap((item: Json): (readonly [Json, Json])[] => {
        const other = byName.get(nameOf(item));
        return other === undefined ? [] : [sharedPart(item, other)];
      });
    return [pairs.map(([item]) => item), pairs.map(([, item]) => item)];
  }
  if (!isJsonObject(real) || !isJsonObject(ours)) return [real, ours];
  const [a, b]: [Record<string, Json>, Record<string, Json>] = [{}, {}];
  for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
    const left = real[key];
    const right = ours[key];
    if (left !== undefined && right !== undefined) [a[key], b[key]] = sharedPart(left, right);
    else if (left !== undefined) a[key] = left;
    else if (right !== undefined) b[key] = right;
  }
  return [a, b];
}

function nameOf(item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { metadata } = item;
  const ofObject = isJsonObject(metadata) ? (metadata["name"] ?? "") : undefined;
  for (const name of [
    item["resource"],
    item["subresource"],
    item["name"],
    item["groupVersion"],
    item["version"],
    ofObject,
  ]) {
    if (typeof name === "string") return name;
  }
  return undefined;
}
