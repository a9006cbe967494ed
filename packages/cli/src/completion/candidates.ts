import type { Argument, Command, Option } from "commander";
import { kindOfWord, kindWords } from "../explain/subject-name.ts";

/** A word that may stand at the end of a command line. */
export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Kinds whose names are completed. */
export type NamedKind = "Machine" | "MachineDeployment" | "MachineSet" | "MachineClass" | "Node" | "Namespace";

/** What may stand at the end of a command line. */
export interface Candidates {
  /** Words that are known without a cluster; may have another beginning than what is there. */
  readonly words: readonly Candidate[];
  /** Objects whose names may stand there, behind a prefix such as `machine/`. */
  readonly objects?: { readonly kind: NamedKind; readonly prefix: string };
  /** Whether the path of a file may stand there. */
  readonly areFiles: boolean;
  /** Whether something follows without a blank. */
  readonly isPart: boolean;
  /** Values of flags before, by their names in code: they select the cluster. */
  readonly flags: Readonly<Record<string, string>>;
}

/** What the arguments of a command are, by its words. */
const objectArguments: Readonly<Record<string, NamedKind>> = {
  "describe deployment": "MachineDeployment",
  "describe set": "MachineSet",
  "describe class": "MachineClass",
  "describe machine": "Machine",
  drain: "Node",
  drift: "Machine",
  doctor: "MachineClass",
};
/** Whose names the second argument of `approve` is. */
const approved: Readonly<Record<string, NamedKind>> = {
  deployment: "MachineDeployment",
  set: "MachineSet",
  machine: "Machine",
};
const objectFlags: Readonly<Record<string, NamedKind>> = { namespace: "Namespace", deployment: "MachineDeployment" };

type Found = Omit<Candidates, "flags">;

const nothing: Found = { words: [], areFiles: false, isPart: false };
const ofWords = (words: readonly string[]): Found => ({
  ...nothing,
  words: words.map((word) => ({ word, description: "" })),
});
const ofObjects = (kind: NamedKind, prefix = ""): Found => ({ ...nothing, objects: { kind, prefix } });

/** Arguments and values whose name in the usage is one of these are paths. */
const isPath = (usage: string): boolean => /(file|folder|path)/.test(usage);

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find(({ long, short }) => long === word || short === word);

/** A command line up to the word that is completed. */
interface Line {
  readonly command: Command;
  /** Words that select the command. */
  readonly path: readonly string[];
  readonly values: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** The flag whose value comes next. */
  readonly open?: Option | undefined;
}

function readWord(line: Line, word: string): Line {
  const { command, path, values, flags, open } = line;
  if (open !== undefined) return { ...line, open: undefined, flags: { ...flags, [open.attributeName()]: word } };
  if (word.startsWith("-")) {
    const [name = "", value] = word.split("=", 2);
    const option = optionOf(command, name);
    if (option === undefined || !takesValue(option)) return line;
    return value === undefined
      ? { ...line, open: option }
      : { ...line, flags: { ...flags, [option.attributeName()]: value } };
  }
  const inner =
    values.length > 0
      ? undefined
      : command.commands.find((each) => each.name() === word || each.aliases().includes(word));
  return inner === undefined
    ? { ...line, values: [...values, word] }
    : { ...line, command: inner, path: [...path, inner.name()] };
}

/** Words for the part of `KIND/NAME` that is there. */
function ofSubject(last: string): Found {
  const at = last.indexOf("/");
  if (at < 0) return { ...ofWords(Object.values(kindWords).map(([first = ""]) => `${first}/`)), isPart: true };
  const kind = kindOfWord(last.slice(0, at));
  return kind === undefined ? nothing : ofObjects(kind, last.slice(0, at + 1));
}

function ofArgument(argument: Argument | undefined, { path, values }: Line, last: string): Found {
  if (argument === undefined) return nothing;
  const words = path.join(" ");
  if (words === "why") return ofSubject(last);
  if (words === "approve" && values.length === 1) {
    const kind = approved[values[0] ?? ""];
    return kind === undefined ? nothing : ofObjects(kind);
  }
  if (argument.argChoices !== undefined) return ofWords(argument.argChoices);
  const kind = objectArguments[words];
  return kind === undefined ? { ...nothing, areFiles: isPath(argument.name()) } : ofObjects(kind);
}

function ofValue(option: Option): Found {
  const kind = objectFlags[option.attributeName()];
  if (option.argChoices !== undefined) return ofWords(option.argChoices);
  return kind === undefined ? { ...nothing, areFiles: isPath(option.flags) } : ofObjects(kind);
}

/** The first sentence of a description, which fits beside a word. */
const briefly = (text: string): string => text.split(/[:;(]/, 1)[0]?.trim() ?? "";

/**
 * What may stand at the end of a command line.
 *
 * @param words what follows the name of the program; the last one is what is there of the word that is completed, maybe nothing
 */
export function candidatesFor(program: Command, words: readonly string[]): Candidates {
  const last = words.at(-1) ?? "";
  const start: Line = { command: program, path: [], values: [], flags: {} };
  const line = words.slice(0, -1).reduce(readWord, start);
  const { command, values, flags, open } = line;
  if (open !== undefined) return { ...ofValue(open), flags };
  const help = command.createHelp();
  if (last.startsWith("-")) {
    const options = help.visibleOptions(command);
    const found = options.map(({ long, description }) => ({ word: long ?? "", description: briefly(description) }));
    return { ...nothing, words: found, flags };
  }
  const { registeredArguments } = command;
  const final = registeredArguments.at(-1);
  const argument = registeredArguments[values.length] ?? (final?.variadic === true ? final : undefined);
  const found = ofArgument(argument, line, last);
  const inner = values.length > 0 ? [] : help.visibleCommands(command);
  const commands = inner.map((each) => ({ word: each.name(), description: briefly(each.description()) }));
  return { ...found, words: [...commands, ...found.words], flags };
}
