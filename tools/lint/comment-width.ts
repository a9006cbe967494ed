import type { Rule } from "./one-doc-comment.ts";

/** `printWidth` of .oxfmtrc.json: the formatter leaves comments as they are. */
const MAX_COLUMNS = 120;

/** What a tool reads, in one line. */
const isDirective = (line: string): boolean => /(?:oxlint|eslint)-|@ts-|https?:/.test(line);

/** Rejects lines of comments that are wider than the code: a reader of two files side by side does not see their ends. Comments after code are part of its line. */
export const commentWidth: Rule = {
  create: ({ sourceCode, report }) => ({
    Program() {
      const lines = sourceCode.text.split("\n");
      for (const { loc } of sourceCode.getAllComments()) {
        const first = lines[loc.start.line - 1] ?? "";
        const begin = first.slice(0, loc.start.column).trim() === "" ? loc.start.line : loc.start.line + 1;
        for (let line = begin; line <= loc.end.line; line++) {
          const text = lines[line - 1] ?? "";
          if (text.length <= MAX_COLUMNS || isDirective(text)) continue;
          const message = `This line of a comment has ${text.length} columns, of at most ${MAX_COLUMNS}. Wrap it.`;
          report({ message, loc: { start: { line, column: 0 }, end: { line, column: text.length } } });
        }
      }
    },
  }),
};
