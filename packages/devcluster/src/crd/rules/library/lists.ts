import type { Environment } from "@marcbachmann/cel-js";
import { isDeepStrictEqual } from "node:util";

type Comparable = string | number | bigint | Date;

function sum(list: readonly (bigint | number)[]): bigint | number {
  const whole = list.filter((item) => typeof item === "bigint");
  if (whole.length === list.length) return whole.reduce((total, item) => total + item, 0n);
  return list.reduce<number>((total, item) => total + Number(item), 0);
}

function extreme(list: readonly Comparable[], isBetter: (a: Comparable, b: Comparable) => boolean): Comparable {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error("min/max called on empty list");
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
}

const holds = (list: readonly unknown[], item: unknown): boolean => list.some((own) => isDeepStrictEqual(own, item));

class SetFunctions {
  readonly namespace = "sets";
}

/** Adds the functions of lists, and of lists as sets. Source: Kubernetes documentation, "Kubernetes list library". */
export function addLists(environment: Environment): Environment {
  return environment
    .registerFunction("list.isSorted(): bool", (list: readonly Comparable[]) =>
      list.every((item, index) => index === 0 || !(item < (list[index - 1] ?? item))),
    )
    .registerFunction("list.sum(): dyn", sum)
    .registerFunction("list.min(): dyn", (list: readonly Comparable[]) => extreme(list, (a, b) => a < b))
    .registerFunction("list.max(): dyn", (list: readonly Comparable[]) => extreme(list, (a, b) => a > b))
    .registerFunction("list.indexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
      BigInt(list.findIndex((own) => isDeepStrictEqual(own, item))),
    )
    .registerFunction("list.lastIndexOf(dyn): int", (list: readonly unknown[], item: unknown) =>
      BigInt(list.findLastIndex((own) => isDeepStrictEqual(own, item))),
    )
    .registerType("SetFunctions", SetFunctions)
    .registerConstant("sets", "SetFunctions", new SetFunctions())
    .registerFunction(
      "SetFunctions.contains(list, list): bool",
      (_: SetFunctions, list: readonly unknown[], part: readonly unknown[]) => part.every((item) => holds(list, item)),
    )
    .registerFunction(
      "SetFunctions.intersects(list, list): bool",
      (_: SetFunctions, a: readonly unknown[], b: readonly unknown[]) => a.some((item) => holds(b, item)),
    )
    .registerFunction(
      "SetFunctions.equivalent(list, list): bool",
      (_: SetFunctions, a: readonly unknown[], b: readonly unknown[]) =>
        a.every((item) => holds(b, item)) && b.every((item) => holds(a, item)),
    );
}
