import type { Explanation, WhyReport } from "@millwright/runtime";
import { plain, section } from "../terminal/text.ts";
import { renderTree, type TreeLayout } from "./render-tree.ts";
import { wrapText } from "../terminal/wrap-text.ts";

const verdicts: Readonly<Record<Explanation["state"], string>> = {
  ok: "is as desired",
  waiting: "is not as desired yet",
  stuck: "is stuck",
};

/** What the controllers do next about machines, each text once. */
function nextTexts(explanation: Explanation): readonly string[] {
  const own = explanation.next === undefined || explanation.state === "ok" ? [] : [explanation.next];
  return [...new Set([...own, ...explanation.children.flatMap(nextTexts)])];
}

/** Why an object is not as desired: the chain of causes, what comes next, and what helps. */
export function renderWhy(report: WhyReport, layout: TreeLayout): string {
  const { kind, name, namespace, explanation, remedies, notes } = report;
  const { state } = explanation;
  const wrapped = (texts: readonly string[]): readonly string[] =>
    texts.flatMap((text) => wrapText(plain(text), layout.width - 2));
  const of = kind === "Node" || kind === "Namespace" ? name : `${namespace}/${name}`;
  return [
    layout.paint(state, `${kind} ${of} ${verdicts[state]}.`),
    "",
    ...renderTree(explanation, layout),
    ...(state === "ok" ? [] : section("What the controllers do", wrapped(nextTexts(explanation)))),
    ...(state === "ok"
      ? []
      : section(
          "What you can do",
          remedies.flatMap(({ text, commands }) => [
            ...wrapped([text]),
            ...commands.map((line) => `  $ ${plain(line)}`),
          ]),
        )),
    ...section("Notes", wrapped(notes)),
    "",
  ].join("\n");
}
