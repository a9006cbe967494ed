import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";
import { commentWidth } from "./comment-width.ts";

RuleTester.describe = describe;
RuleTester.it = it;

const long = "word ".repeat(30).trim();
const errors = [{ message: /has \d+ columns, of at most 120/ }];

new RuleTester({ languageOptions: { parserOptions: { lang: "ts" } } }).run("comment-width", commentWidth, {
  valid: [
    { name: "within the width", code: `// ${long.slice(0, 110)}\nconst a = 1;` },
    { name: "a string", code: `const a = "// ${long}";` },
    { name: "after code", code: `const a = 1; // ${long}` },
    { name: "an address", code: `// https://example.com/${"a".repeat(120)}\nconst a = 1;` },
  ],
  invalid: [
    { name: "a line", code: `// ${long}\nconst a = 1;`, errors },
    { name: "a doc comment", code: `/** ${long} */\nconst a = 1;`, errors },
    {
      name: "lines of a block",
      code: `/**\n * ${long}\n * Short.\n * ${long}\n */\nconst a = 1;`,
      errors: [...errors, ...errors],
    },
  ],
});
