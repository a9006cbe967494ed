/** The fields of a body that a function does not read: unknown ones. */
export function unreadFields(
  body: unknown,
  read: (body: unknown) => unknown,
): { readonly unread: readonly string[]; readonly result: unknown } {
  const seen = new WeakMap<object, Set<PropertyKey>>();
  const watch = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const keys = seen.get(value) ?? new Set();
    seen.set(value, keys);
    return new Proxy(value, {
      get(target, key, receiver): unknown {
        keys.add(key);
        return watch(Reflect.get(target, key, Array.isArray(target) ? target : receiver));
      },
      // Listing the keys reads all of them, as for a map of tags.
      ownKeys(target) {
        for (const key of Reflect.ownKeys(target)) keys.add(key);
        return Reflect.ownKeys(target);
      },
    });
  };
  const result = read(watch(body));
  const unread: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const keys = seen.get(value);
    // Passed on unchanged.
    if (keys === undefined || keys.size === 0) return;
    for (const [key, field] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      if (keys.has(key)) visit(field, at);
      else unread.push(at);
    }
  };
  visit(body, "");
  return { unread, result };
}
