import { machineGroup } from "@millwright/core/command-line";
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

/** What may stand behind the word of one of our kinds, as kubectl reads and prints it. */
const isOwnGroup = (suffix: string): boolean =>
  suffix === machineGroup || (/^v\d\w*\./.test(suffix) && suffix.endsWith(`.${machineGroup}`));

/** The kind of a word in any case, also with its API group behind a dot, as in `kubectl get -o name`. Undefined for kinds of other groups, such as the Machine of Cluster API. */
export function kindOfWord(word: string): Subject["kind"] | undefined {
  const [, plural = "", suffix] = /^([^.]*)(?:\.(.*))?$/.exec(word.toLowerCase()) ?? [];
  const [kind] = Object.entries(kindWords).find(([, words]) => words.includes(plural)) ?? [];
  if (kind === undefined || !isKind(kind)) return undefined;
  return suffix === undefined || (kind !== "Node" && isOwnGroup(suffix)) ? kind : undefined;
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
