/*
 * Rules of this repository for oxlint, which loads this file as a plugin: `.oxlintrc.json` names it. JavaScript plugins of oxlint are not stable yet: an update of it may need a change here.
 */
import { oneDocComment, type Rule } from "./one-doc-comment.ts";

interface Plugin {
  readonly meta: { readonly name: string };
  readonly rules: Readonly<Record<string, Rule>>;
}

const plugin: Plugin = { meta: { name: "millwright" }, rules: { "one-doc-comment": oneDocComment } };

export default plugin;
