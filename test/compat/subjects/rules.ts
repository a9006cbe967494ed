import { getUntil, type JsonObject, post, subject } from "../request-script.ts";
import { crd, crds, isEstablished } from "./sample-objects.ts";

/** Expressions by their CEL library; `self` is the text "abc-12". Some are true, some are false, some fail. */
const expressions: Readonly<Record<string, readonly string[]>> = {
  texts: [
    "self.startsWith('abc')",
    "self.size() == 6",
    "self.contains('x')",
    "self.matches('^[a-z]+-[0-9]+$')",
    "self.matches('^\\\\pL+')",
    "self.matches('^[[:alpha:]]{3}-')",
    "self.matches('^(?i:ABC)')",
    "self.find('[0-9]+') == '12'",
    "self.find('z') == ''",
    "self.findAll('[a-c]') == ['a', 'b', 'c']",
    "self.findAll('[a-c]', 2) == ['a', 'b']",
    "self.split('-').size() == 2",
    "self.replace('-', '+') == 'abc+12'",
    "self.upperAscii() == 'ABC-12'",
    "self.charAt(1) == 'b'",
    "self.indexOf('c') == 2",
    "self.lastIndexOf('-') == 3",
    "self.substring(0, 3) == 'abc'",
    "'%s is %d'.format([self, 2]) == 'abc-12 is 2'",
  ],
  lists: [
    "[1, 2, 3].isSorted()",
    "[3, 2].isSorted()",
    "[1, 2, 3].sum() == 6",
    "[1.5, 2.5].sum() == 4.0",
    "[3, 1, 2].min() == 1",
    "[1, 3, 2].max() == 3",
    "[1, 2, 1].indexOf(1) == 0",
    "[1, 2, 1].lastIndexOf(1) == 2",
    "[1].indexOf(9) == -1",
    "[1, 2].exists_one(x, x > 1)",
    "[1, 2].map(x, x * 2) == [2, 4]",
    "[1, 2].filter(x, x > 1) == [2]",
    "sets.contains([1, 2, 3], [3, 1])",
    "sets.intersects([1], [2])",
    "sets.equivalent([1, 2], [2, 1, 1])",
    "1 in [1, 2]",
    "'a' in {'a': 1}",
  ],
  quantities: [
    "isQuantity('1.5Gi')",
    "isQuantity('1.5gi')",
    "quantity('1000m') == quantity('1')",
    "quantity('1').isGreaterThan(quantity('500m'))",
    "quantity('1Ki').isLessThan(quantity('1k'))",
    "quantity('1').compareTo(quantity('2')) == -1",
    "quantity('50k').isInteger()",
    "quantity('50m').isInteger()",
    "quantity('50k').asInteger() == 50000",
    "quantity('50m').asInteger() == 0",
    "quantity('1.5').asApproximateFloat() == 1.5",
    "quantity('1').add(quantity('1500m')) == quantity('2.5')",
    "quantity('2').sub(1) == quantity('1')",
    "sign(quantity('-1')) == -1",
    "quantity('nonsense').isInteger()",
  ],
  urls: [
    "isURL('https://a.example:80/b?c=d')",
    "isURL('a.example')",
    "isURL('/path')",
    "url('https://a.example:80/b?c=d').getScheme() == 'https'",
    "url('https://a.example:80/b').getHost() == 'a.example:80'",
    "url('https://[::1]:80/b').getHostname() == '::1'",
    "url('https://a.example:443/').getPort() == '443'",
    "url('https://a.example').getEscapedPath() == ''",
    "url('https://a.example/b c').getEscapedPath() == '/b%20c'",
    "url('https://a.example/?c=d&c=e').getQuery()['c'] == ['d', 'e']",
    "url('/path').getHost() == ''",
  ],
  addresses: [
    "isIP('127.0.0.1')",
    "isIP('127.0.0.256')",
    "isIP('::ffff:1.2.3.4')",
    "isIP('fe80::1%eth0')",
    "ip('::1').family() == 6",
    "ip('127.0.0.1').isLoopback()",
    "ip('0.0.0.0').isUnspecified()",
    "ip('224.0.0.1').isLinkLocalMulticast()",
    "ip('169.254.1.1').isLinkLocalUnicast()",
    "ip('10.0.0.1').isGlobalUnicast()",
    "ip('2001:db8:0:0::1') == ip('2001:db8::1')",
    "ip.isCanonical('2001:DB8::1')",
    "ip.isCanonical('2001:db8::1')",
    "string(ip('2001:db8:0:0:1::1')) == '2001:db8::1:0:0:1'",
    "isCIDR('10.0.0.0/8')",
    "isCIDR('10.0.0.0/33')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
    "cidr('10.0.0.0/8').containsIP(ip('11.1.2.3'))",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
    "cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
    "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
    "cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
    "cidr('10.1.2.3/8').prefixLength() == 8",
  ],
  formats: [
    "!format.dns1123Label().validate(self).hasValue()",
    "!format.dns1123Subdomain().validate('a_b').hasValue()",
    "format.named('dns1035Label').hasValue()",
    "format.named('nothing').hasValue()",
    "!format.qualifiedName().validate('example.com/a').hasValue()",
    "!format.labelValue().validate('-').hasValue()",
    "!format.uuid().validate('00000000-0000-0000-0000-000000000000').hasValue()",
    "!format.date().validate('2020-13-01').hasValue()",
    "!format.dns1123LabelPrefix().validate('a-').hasValue()",
  ],
  versions: [
    "isSemver('1.2.3')",
    "isSemver('v1.2.3')",
    "semver('1.2.3').minor() == 2",
    "semver('1.2.3').isLessThan(semver('1.10.0'))",
    "semver('1.0.0-alpha').compareTo(semver('1.0.0')) == -1",
    "semver('1.0.0-alpha.1').isGreaterThan(semver('1.0.0-alpha.beta'))",
  ],
  times: [
    "duration('1h') > duration('59m')",
    "timestamp('2020-01-01T00:00:00Z').getFullYear() == 2020",
    "timestamp('2020-01-02T00:00:00Z') - timestamp('2020-01-01T00:00:00Z') == duration('24h')",
  ],
};

const group = "rules.example.io";
const ruledText = (rule: string): JsonObject => ({
  type: "string",
  // Kubernetes rejects costly rules on texts without a maximum length.
  maxLength: 20,
  "x-kubernetes-validations": [{ rule, message: rule }],
});
/** A field for each expression, so that errors identify it by its path. */
const libraries = Object.entries(expressions).map(([library, rules]) => ({
  library,
  properties: Object.fromEntries(rules.map((rule, index) => [`r${index}`, ruledText(rule)])),
  values: Object.fromEntries(rules.map((_, index) => [`r${index}`, "abc-12"])),
}));
const schema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: Object.fromEntries(
        libraries.map(({ library, properties }) => [library, { type: "object", properties }]),
      ),
    },
  },
};
const ruled = `/apis/${group}/v1/namespaces/{ns}/ruleds`;
const refused = (rule: string): JsonObject => ({
  type: "object",
  properties: { spec: { type: "object", properties: { x: ruledText(rule) } } },
});

/** Validation rules of custom resources. */
export const rules = subject("rules", [
  post("define what is ruled", crds, crd(group, "ruleds", "Ruled", schema)),
  getUntil("what is ruled is established", `${crds}/ruleds.${group}`, isEstablished),
  getUntil("what is ruled is served", ruled, (status) => status === 200),
  ...libraries.map(({ library, values }) =>
    post(`the rules about ${library}`, ruled, {
      apiVersion: `${group}/v1`,
      kind: "Ruled",
      metadata: { name: "a" },
      spec: { [library]: values },
    }),
  ),
  ...["self.matches('(')", "self.matches('(?=a)')", "self.find('a**') == ''"].map((rule) =>
    post(`define the bad pattern in ${rule}`, `${crds}?dryRun=All`, crd(group, "bads", "Bad", refused(rule))),
  ),
]);
