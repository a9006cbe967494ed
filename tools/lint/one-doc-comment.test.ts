import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";
import { oneDocComment } from "./one-doc-comment.ts";

RuleTester.describe = describe;
RuleTester.it = it;

const errors = [{ message: /followed by another one/ }];

new RuleTester({ languageOptions: { parserOptions: { lang: "ts" } } }).run("one-doc-comment", oneDocComment, {
  valid: [
    { name: "one for each declaration", code: "/** One. */\nconst a = 1;\n/** Two. */\nconst b = 2;" },
    { name: "a plain comment about the file", code: "/* The file. */\n\n/** One. */\nconst a = 1;" },
    { name: "a line comment between", code: "/** One. */\n// not about b\n/** Two. */\nconst b = 2;" },
    { name: "texts that look like comments", code: 'const a = "/** One. */ /** Two. */";' },
    {
      name: "types of JSDoc",
      code: "/** @typedef {number} A */\n/** @import { B } from './b.js' */\n/** One. */\nvar a;",
    },
  ],
  invalid: [
    { name: "one after another", code: "/** One. */\n/** Two. */\nconst a = 1;", errors },
    { name: "a blank line between", code: "/** One. */\n\n/**\n * Two.\n */\nconst a = 1;", errors },
    { name: "among the members of a type", code: "interface A {\n  /** One. */\n  /** Two. */\n  a: 1;\n}", errors },
    { name: "three", code: "/** One. */ /** Two. */ /** Three. */ const a = 1;", errors: [...errors, ...errors] },
  ],
});
