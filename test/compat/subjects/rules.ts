import { getUntil, type JsonObject, post, subject } from "../request-script.ts";
import { crd, crds, isEstablished } from "./sample-objects.ts";

/** Expressions by what they are about; `self` is the text "abc-12". Some are true, some are false, some fail. */
const expressions: Readonly<Record<string, readonly string[]>> = {
  texts: [
    "self.startsWith('abc')",
    "self.size() == 6",
    "self.contains('x')",
    "self.matches('^[a-z]+-[0-9]+$')",
    "self.matches('^\\\\pL+')",
    "self.matches('^[[:alpha:]]{3}-')",
    "self.matches('^(?i:ABC)')",
    "self.split('-').size() == 2",
    "self.upperAscii() == 'ABC-12'",
    "self.indexOf('c') == 2",
    "self.lastIndexOf('-') == 3",
    "self.substring(0, 3) == 'abc'",
  ],
  lists: [
    "[1, 2].exists_one(x, x > 1)",
    "[1, 2].map(x, x * 2) == [2, 4]",
    "[1, 2].filter(x, x > 1) == [2]",
    "1 in [1, 2]",
    "'a' in {'a': 1}",
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
]);
