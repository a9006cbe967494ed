import { isRecord } from "@millwright/base";
import { joinPath } from "@millwright/core/machine-api";

/** A place in a spec. */
export interface SpecPath {
  readonly keys: readonly (string | number)[];
  /** As in problems: `providerSpec.disks[0].size`. */
  readonly text: string;
  readonly value: unknown;
}

const maxPaths = 200;

/** The fields of a spec, those of nested objects included; at most 200. */
export function specPaths(spec: unknown): readonly SpecPath[] {
  const found: SpecPath[] = [];
  const visit = (value: unknown, keys: SpecPath["keys"], text: string): void => {
    if (found.length >= maxPaths) return;
    const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
      ? value.map((each: unknown, index) => [index, each] as const)
      : isRecord(value)
        ? Object.entries(value)
        : [];
    for (const [key, child] of entries) {
      const path: SpecPath = { keys: [...keys, key], text: joinPath(text, key), value: child };
      found.push(path);
      visit(child, path.keys, path.text);
    }
  };
  visit(spec, [], "providerSpec");
  return found;
}

function parentOf(copy: unknown, keys: SpecPath["keys"]): object {
  let parent: unknown = copy;
  for (const key of keys.slice(0, -1))
    parent = typeof parent === "object" && parent !== null ? Reflect.get(parent, key) : undefined;
  return typeof parent === "object" && parent !== null ? parent : {};
}

/** A copy of a spec without a field. */
export function withoutField(spec: unknown, { keys }: SpecPath): unknown {
  const copy: unknown = structuredClone(spec);
  Reflect.deleteProperty(parentOf(copy, keys), keys.at(-1) ?? "");
  return copy;
}

/** A copy of a spec with another value of a field. */
export function withField(spec: unknown, { keys }: Pick<SpecPath, "keys">, value: unknown): unknown {
  const copy: unknown = structuredClone(spec);
  Object.defineProperty(parentOf(copy, keys), keys.at(-1) ?? "", {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  return copy;
}
