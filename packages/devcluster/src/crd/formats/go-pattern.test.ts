import { expect, test } from "vitest";
import { goPattern } from "./go-pattern.ts";

test.each([
  ["^[a-z]([-a-z0-9]*[a-z0-9])?$", "a-1", true],
  ["^a.b$", "a\nb", false],
  ["^\\s$", "\v", false],
  ["a(?i)b", "aB", true],
  ["^[[:alpha:]_]+$", "a_B", true],
  ["^\\pL\\p{Greek}$", "aα", true],
])("%s and %j: %s", (pattern, text, isMatch) => {
  expect(goPattern(pattern).test(text)).toBe(isMatch);
});

test.each([
  ["(", "missing closing ): `(`"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["^(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
])("rejects %s with Go's error", (pattern, why) => {
  expect(() => goPattern(pattern)).toThrow(`error parsing regexp: ${why}`);
});
