import { Environment } from "@marcbachmann/cel-js";

/**
 * The functions that rules of CRDs may call: CEL's own, those of the library's string extensions, and of Kubernetes' list
 * and regular expression libraries what schemas use. Not here: quantities, URLs, IP addresses, authorizer.
 */
const base = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
})
  .registerVariable("self", "dyn")
  .registerFunction("string.replace(string, string): string", (text: string, part: string, by: string) =>
    text.replaceAll(part, () => by),
  )
  .registerFunction("string.find(string): string", (text: string, pattern: string) => {
    return new RegExp(pattern, "u").exec(text)?.[0] ?? "";
  })
  .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) => {
    return text.match(new RegExp(pattern, "gu")) ?? [];
  })
  .registerFunction("list.isSorted(): bool", (list: readonly Comparable[]) =>
    list.every((item, index) => index === 0 || !(item < (list[index - 1] ?? item))),
  )
  .registerFunction("list.sum(): dyn", (list: readonly (bigint | number)[]) => sum(list))
  .registerFunction("list.min(): dyn", (list: readonly Comparable[]) => extreme(list, (a, b) => a < b))
  .registerFunction("list.max(): dyn", (list: readonly Comparable[]) => extreme(list, (a, b) => a > b))
  .registerFunction("list.indexOf(dyn): int", (list: readonly unknown[], item: unknown) => BigInt(list.indexOf(item)))
  .registerFunction("isURL(string): bool", (text: string) => URL.canParse(text));

/** For rules whose `oldSelf` is there on every run. */
export const ruleEnvironment = base.clone().registerVariable("oldSelf", "dyn");

/** For rules with `optionalOldSelf`. */
export const optionalRuleEnvironment = base.clone().registerVariable("oldSelf", "optional<dyn>");

type Comparable = string | number | bigint;

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
