import type { Subject } from "@millwright/runtime";
import { UsageError } from "../terminal/usage-error.ts";

/** Words for each kind, as kubectl accepts them, and shorter ones; the first is shown in messages. */
export const kindWords: Readonly<Record<Subject["kind"], readonly string[]>> = {
  Machine: ["machine", "machines", "mc"],
  MachineDeployment: ["machinedeployment", "machinedeployments", "mcd", "md", "deployment"],
  MachineSet: ["machineset", "machinesets", "mcs", "ms", "set"],
  MachineClass: ["machineclass", "machineclasses", "mcc", "class"],
  Node: ["node", "nodes", "no"],
};

const isKind = (kind: string): kind is Subject["kind"] => kind in kindWords;

/** The kind of a word in any case, also with the API group behind a dot, as in `kubectl get -o name`. */
export function kindOfWord(word: string): Subject["kind"] | undefined {
  const [plural = ""] = word.toLowerCase().split(".", 1);
  const [kind] = Object.entries(kindWords).find(([, words]) => words.includes(plural)) ?? [];
  return kind !== undefined && isKind(kind) ? kind : undefined;
}

/**
 * Reads `KIND/NAME`.
 *
 * @throws UsageError for anything else
 */
export function readSubject(text: string): Subject {
  const [word = "", name = "", ...rest] = text.split("/");
  const kind = kindOfWord(word);
  if (kind === undefined || name === "" || rest.length > 0)
    throw new UsageError(
      `${text}: expected KIND/NAME, such as machine/NAME; kinds are ${Object.values(kindWords)
        .map(([first]) => first)
        .join(", ")}`,
    );
  return { kind, name };
}
