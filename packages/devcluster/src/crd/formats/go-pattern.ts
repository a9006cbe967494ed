import { RE2JS } from "re2js";

/** There are few patterns, of schemas and rules, and they are used again and again. */
const compiled = new Map<string, RE2JS>();

/**
 * A pattern in Go's syntax (RE2), as Kubernetes reads it: without back-references and lookaround, and matched in linear time.
 * @throws with Go's error for a pattern that it rejects
 */
export function goPattern(source: string): RE2JS {
  const pattern = compiled.get(source) ?? RE2JS.compile(source);
  compiled.set(source, pattern);
  return pattern;
}
