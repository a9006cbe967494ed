import * as fc from "fast-check";
import { expect, test } from "vitest";
import { goPattern } from "./go-pattern.ts";

function matches(pattern: string, text: string): boolean {
  const read = goPattern(pattern);
  if ("error" in read) throw new Error(read.error);
  return read.regExp.test(text);
}

test.each([
  ["^[a-z]([-a-z0-9]*[a-z0-9])?$", "a-1", true],
  ["^a.b$", "a\rb", true],
  ["^a.b$", "a\nb", false],
  ["^\\s$", "\v", false],
  ["^[\\s\\d]+$", " 1", true],
  ["(?P<x>a)b", "ab", true],
  ["(?i)^ab$", "AB", true],
  ["^(?i:ab)$", "AB", true],
  ["\\Aab\\z", "ab", true],
  ["^[[:alpha:]_]+$", "a_B", true],
  ["^\\pL\\p{Greek}$", "aα", true],
  ["^\\Qa.b\\E$", "a.b", true],
  ["^a\\-b\\_c$", "a-b_c", true],
  ["^[\\w.-]+$", "a.b-c", true],
  ["^\\x41\\x{42}\\103$", "ABC", true],
  ["^{a}$", "{a}", true],
  ["^[]a]+$", "]a", true],
  ["^a{2,3}?$", "aaa", true],
])("%s and %j: %s", (pattern, text, isMatch) => {
  expect(matches(pattern, text)).toBe(isMatch);
});

test.each([
  ["(", "missing closing ): `(`"],
  ["a)", "unexpected ): `a)`"],
  ["[a", "missing closing ]: `[a`"],
  ["*a", "missing argument to repetition operator: `*`"],
  ["a(?i)b", "invalid or unsupported Perl syntax: `(?i)`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["[z-a]", "invalid character class range: `z-a`"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["^(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
  ["(?!a)", "invalid or unsupported Perl syntax: `(?!`"],
  ["a\\", "trailing backslash at end of expression: ``"],
])("rejects %s with Go's error", (pattern, why) => {
  expect(goPattern(pattern)).toEqual({ error: `error parsing regexp: ${why}` });
});

test.each(["^(a+)+$", "^(a|a)*$", "^(a?){40}a{40}!$", "^a*a*a*a*a*a*a*$", "(a*)*b"])(
  "ends a match of %s that would block the process, and does not match the pattern again",
  (pattern) => {
    const error = "takes longer than 1 s; write it without nested repetitions";
    expect(() => matches(pattern, `${"a".repeat(3_000)}?`)).toThrow(error);
    expect(() => matches(pattern, "a")).toThrow(error);
  },
);

test("a pattern either compiles or has an error", () => {
  const parts = fc.constantFrom(
    "a",
    "\\",
    "[",
    "]",
    "(",
    ")",
    "?",
    "*",
    "+",
    "{",
    "2",
    ",",
    "}",
    "^",
    "-",
    ":",
    "|",
    "p",
    "P",
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 12 }), (pieces) => {
      const read = goPattern(pieces.join(""));
      expect("error" in read ? read.error : read.regExp.source).toBeTypeOf("string");
    }),
  );
});
