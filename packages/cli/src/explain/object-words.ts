import type { Subject } from "@millwright/runtime";
import { UsageError } from "../terminal/usage-error.ts";
import { kindOfWord, kindWords } from "./subject-name.ts";

/** How the parsers of `describe` and `approve` call the kinds. */
const kindNames: Readonly<Record<Subject["kind"], string>> = {
  Machine: "machine",
  MachineDeployment: "deployment",
  MachineSet: "set",
  MachineClass: "class",
  Node: "node",
};

/** Commands whose only object is of one kind. */
const soleKinds: Readonly<Record<string, Subject["kind"]>> = { drain: "Node", drift: "Machine" };

/** Splits an object as kubectl reads and prints it, `KIND/NAME` or `KIND NAME`; undefined for other words. */
function splitObject(first: string, second: string | undefined) {
  const [word = "", name, ...more] = first.split("/");
  const kind = kindOfWord(word);
  if (kind === undefined || name === "" || more.length > 0) return undefined;
  if (name !== undefined) return { kind, name, length: 1 };
  return second === undefined || second === "" || second.startsWith("-")
    ? undefined
    : { kind, name: second, length: 2 };
}

/**
 * The words of a command line with the object right after the command as its parser wants it. People name objects as kubectl does everywhere: `machine/NAME`, `machine NAME`, or what
 * `kubectl get -o name` prints, `machine.machine.sapcloud.io/NAME`.
 *
 * @throws UsageError for an object of a kind that the command does not have, and for a name with a slash
 */
export function withObjectWords(words: readonly string[]): readonly string[] {
  const [command = "", first = "", second, ...rest] = words;
  const object = splitObject(first, second);
  const soleKind = soleKinds[command];
  if (soleKind !== undefined && first.includes("/") && object?.kind !== soleKind) {
    const [word = ""] = kindWords[soleKind];
    throw new UsageError(`${first}: expected ${word}/NAME, or NAME`);
  }
  if (object === undefined) return words;
  const { kind, name, length } = object;
  const more = length === 1 && second !== undefined ? [second, ...rest] : rest;
  switch (command) {
    case "describe":
    case "approve":
      if (name.includes("/")) throw new UsageError(`${name}: a name has no slash`);
      return [command, kindNames[kind], name, ...more];
    case "why":
      return [command, `${kind}/${name}`, ...more];
    case "drain":
    case "drift":
      return soleKind === kind ? [command, name, ...more] : words;
    default:
      return words;
  }
}
