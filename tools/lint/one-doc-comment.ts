import type { RuleTester } from "oxlint/plugins-dev";

/** A rule of oxlint. It exports this type from another package only, which we do not need. */
export type Rule = Parameters<RuleTester["run"]>[1];

/** Whether a comment is a doc comment. */
const isDocComment = ({ type, value }: { readonly type: string; readonly value: string }): boolean =>
  type === "Block" && value.startsWith("*");

/** Whether a comment declares something by itself, as JSDoc does in JavaScript. */
const isDeclaration = ({ value }: { readonly value: string }): boolean => /@(?:typedef|callback|import)\b/.test(value);

/** Rejects a doc comment that another one follows, with nothing but blanks between: it documents nothing, and was written for a declaration that is elsewhere or gone. */
export const oneDocComment: Rule = {
  create: ({ sourceCode, report }) => ({
    Program() {
      const comments = sourceCode.getAllComments();
      for (const [index, comment] of comments.entries()) {
        const next = comments[index + 1];
        if (next === undefined || !isDocComment(comment) || !isDocComment(next) || isDeclaration(comment)) continue;
        if (sourceCode.text.slice(comment.range[1], next.range[0]).trim() !== "") continue;
        report({
          message:
            "This doc comment is followed by another one. Move it to its declaration, or make it a plain comment.",
          loc: comment.loc,
        });
      }
    },
  }),
};
