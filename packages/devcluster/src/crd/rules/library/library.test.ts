import { expect, test } from "vitest";
import { compileRule, isCompiled } from "../compile-rule.ts";

function evaluate(rule: string): unknown {
  const compiled = compileRule({ rule });
  if (!isCompiled(compiled)) throw new Error(compiled.message);
  return compiled.evaluate({ self: "abc-12", oldSelf: undefined });
}

/** What kube-apiserver answers to the same is checked in `test/compat`. */
test.each([
  "self.matches('^\\\\pL+-[[:digit:]]+$')",
  "self.findAll('[a-c]', 2) == ['a', 'b']",
  "self.charAt(1) == 'b'",
  "self.replace('-', '+', 0) == self",
  "'%s has %d, %.2f and %x'.format(['it', 2, 1.5, 255]) == 'it has 2, 1.50 and ff'",
  "[1, 2, 3].sum() == 6 && [3, 1].min() == 1",
  "sets.equivalent([1, 2], [2, 1, 1])",
  "quantity('1Gi').isGreaterThan(quantity('1G'))",
  "quantity('1').add(quantity('500m')) == quantity('1500m')",
  "url('https://a.example:443/b?c=d&c=e').getQuery()['c'] == ['d', 'e']",
  "cidr('2001:db8::/32').containsIP('2001:db8::1')",
  "string(ip('2001:db8:0:0:1::1')) == '2001:db8::1:0:0:1'",
  "ip.isCanonical('::') && !ip.isCanonical('0::')",
  "!format.dns1123Label().validate(self).hasValue()",
  "format.named('dns1035Label').value().validate('1').hasValue()",
  "semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
])("%s", (rule) => {
  expect(evaluate(rule)).toBe(true);
});

test.each([
  ["quantity('x').isInteger()", "quantities must match"],
  ["ip('1.2.3').family() == 4", "parse error"],
  ["semver('1').major() == 1", "could not be read"],
  ["[1].filter(x, x > 1).max() == 1", "empty list"],
])("%s fails", (rule, why) => {
  expect(() => evaluate(rule)).toThrow(why);
});
