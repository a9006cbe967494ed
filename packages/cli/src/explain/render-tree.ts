import type { Explanation } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";
import { ago, ahead } from "../terminal/relative-time.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** Colors a word by the state that it is about. */
export type Paint = (state: Explanation["state"], text: string) => string;

/** How a tree is shown. */
export interface TreeLayout {
  readonly now: Date;
  /** Characters in a line. */
  readonly width: number;
  readonly paint: Paint;
}

/** Names of siblings that are listed; the rest is counted. */
const MAX_NAMES = 3;

/** The object, and siblings in the same state. */
function subjectOf({ kind, name, others }: Explanation): string {
  const names = [name, ...others];
  if (names.length === 1) return `${kind} ${name}`;
  const rest = names.length - MAX_NAMES;
  return `${names.length} ${kind === "MachineClass" ? "MachineClasses" : `${kind}s`} ${names.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** When the next attempt follows; nothing once it may have been made. */
function nextText(nextAt: string | undefined, now: Date): readonly string[] {
  if (nextAt === undefined || Date.parse(nextAt) <= now.getTime()) return [];
  return [`the next ${ahead(nextAt, now)} at the earliest`];
}

/** What was attempted, and what comes next: one line. */
export function progressText({ attempts, deadline }: Explanation, now: Date): string | undefined {
  const parts = [
    ...(attempts === undefined
      ? []
      : [
          `${attempts.count === 1 ? "1 attempt" : `${attempts.count} attempts`}, the last ${ago(attempts.lastAt, now)} ago`,
          ...nextText(attempts.nextAt, now),
        ]),
    ...(deadline === undefined ? [] : [`${ahead(deadline.time, now)} at the latest ${deadline.effect}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** What is shown below the title of an object, a paragraph each. */
function paragraphs(explanation: Explanation, now: Date): readonly string[] {
  const progress = progressText(explanation, now);
  return [
    ...explanation.causes.map(({ reason, message, since }) => {
      const when = since === undefined || since === explanation.since ? "" : ` (for ${ago(since, now)})`;
      return `${reason}${when}: ${message}`;
    }),
    ...(progress === undefined || explanation.state === "ok" ? [] : [progress]),
  ];
}

/** Renders an object, what the controllers recorded about it, and what it has, as a tree. */
export function renderTree(explanation: Explanation, layout: TreeLayout): readonly string[] {
  const { now, width, paint } = layout;
  const branch = (node: Explanation, head: string, below: string): readonly string[] => {
    const since = ago(node.since, now);
    const state = node.state === "ok" ? "" : `  [${node.state}]`;
    const title = plain(`${subjectOf(node)}: ${node.summary}${since === "" ? "" : ` for ${since}`}`);
    const bar = `${below}${node.children.length > 0 ? "│ " : "  "}`;
    const [first = "", ...more] = wrapText(title, width - head.length - state.length);
    return [
      `${head}${paint(node.state, first)}${more.length === 0 ? paint(node.state, state) : ""}`,
      ...more.map((line, index) => {
        const end = index === more.length - 1 ? state : "";
        return `${bar}${paint(node.state, `  ${line}${end}`)}`;
      }),
      ...paragraphs(node, now).flatMap((text) =>
        wrapText(plain(text), width - bar.length - 4).map(
          (line, index) => `${bar}${index === 0 ? "  " : "    "}${line}`,
        ),
      ),
      ...node.children.flatMap((child, index) => {
        const isLast = index === node.children.length - 1;
        return branch(child, `${below}${isLast ? "└─ " : "├─ "}`, `${below}${isLast ? "   " : "│  "}`);
      }),
    ];
  };
  return branch(explanation, "", "").map((line) => line.trimEnd());
}
