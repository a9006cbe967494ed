import type { Parameters } from "./parameters.ts";
import { Ec2Refusal } from "./refusal.ts";

/** The values of a resource by the name of a filter; undefined for an unknown filter. */
export type FilterValues = (name: string) => readonly string[] | undefined;

/** Values of the filters on tags. */
export function tagValues(tags: ReadonlyMap<string, string>, name: string): readonly string[] | undefined {
  if (name === "tag-key") return [...tags.keys()];
  if (!name.startsWith("tag:")) return undefined;
  const value = tags.get(name.slice("tag:".length));
  return value === undefined ? [] : [value];
}

/** Values in one filter, by EC2's limit. */
const longestFilter = 200;

/** `*` and `?` are wildcards, unless a backslash precedes them. */
function patternOf(value: string): RegExp {
  const source = value.replaceAll(/\\[*?\\]|[*?]|[$()+.[\\\]^{|}]/g, (sign) => {
    if (sign === "*") return ".*";
    if (sign === "?") return ".";
    return sign.length === 2 ? sign : `\\${sign}`;
  });
  return new RegExp(`^${source}$`, "s");
}

/** Reads the filters of a request: all must match, also two of one name, each by any of its values. */
export function readFilters(parameters: Parameters): (values: FilterValues) => boolean {
  const filters = parameters
    .items("Filter")
    .map((item) => ({ name: item.required("Name"), values: item.texts("Value") }));
  for (const { name, values } of filters) {
    if (values.length === 0) throw new Ec2Refusal("InvalidParameterValue", `The filter '${name}' has no values`);
    if (values.length > longestFilter) {
      throw new Ec2Refusal("FilterLimitExceeded", `The maximum length for a filter value list is ${longestFilter}`);
    }
  }
  const patterns = filters.map(({ name, values }) => ({ name, patterns: values.map(patternOf) }));
  return (valuesOf) =>
    patterns.every(({ name, patterns }) => {
      const found = valuesOf(name);
      if (found === undefined) throw new Ec2Refusal("InvalidParameterValue", `The filter '${name}' is invalid`);
      return found.some((value) => patterns.some((pattern) => pattern.test(value)));
    });
}
