import { isRecord } from "@millwright/base";
import type { ApiObject } from "../objects/kube-object.ts";

/** Whether labels satisfy a selector as it stands in a query: `a=b,c!=d,e in (x,y),f notin (z),g,!h`. */
export function matchesLabels(labels: Readonly<Record<string, string>>, selector: string): boolean {
  return splitTerms(selector).every((term) => {
    const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
    if (set !== null) {
      const [, key = "", operator, values = ""] = set;
      const value = labels[key];
      const within = value !== undefined && values.split(",").some((each) => each.trim() === value);
      return operator === "in" ? within : !within;
    }
    const compared = /^([^=!]+)(==|=|!=)(.*)$/.exec(term);
    if (compared !== null) {
      const [, key = "", operator, value] = compared;
      return (labels[key.trim()] === value?.trim()) === (operator !== "!=");
    }
    return term.startsWith("!") ? labels[term.slice(1)] === undefined : labels[term] !== undefined;
  });
}

/** Whether an object satisfies a field selector of equalities: `metadata.name=a,spec.nodeName!=b`. */
export function matchesFields(object: ApiObject, selector: string): boolean {
  return splitTerms(selector).every((term) => {
    const [, path = "", operator, value = ""] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
    if (operator === undefined) throw new TypeError(`field selector ${JSON.stringify(selector)}: expected field=value`);
    let found: unknown = object;
    for (const part of path.split(".")) found = isRecord(found) && Object.hasOwn(found, part) ? found[part] : undefined;
    const text = typeof found === "string" ? found : found === undefined ? "" : JSON.stringify(found);
    return (text === value) === (operator !== "!=");
  });
}

/** Commas separate terms, but not within the parentheses of a set. */
function splitTerms(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}
