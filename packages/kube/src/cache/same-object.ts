import type { ApiObject } from "../objects/kube-object.ts";

/** Whether two objects of one name are different ones: the first was deleted, and another was created. */
export function isOther(a: ApiObject, b: ApiObject): boolean {
  return a.metadata.uid !== undefined && b.metadata.uid !== undefined && a.metadata.uid !== b.metadata.uid;
}

/** A generation lower than before, as words; `undefined` if it is not, or the objects only share their name. A server never lowers that of an object. */
export function loweredGeneration(old: ApiObject | undefined, current: ApiObject): string | undefined {
  if (old === undefined || isOther(old, current)) return undefined;
  const { generation: before } = old.metadata;
  const { generation: after } = current.metadata;
  return before !== undefined && after !== undefined && after < before
    ? `at generation ${after} after generation ${before}`
    : undefined;
}
