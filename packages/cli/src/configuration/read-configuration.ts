import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isRecord } from "@millwright/base";
import type * as Yaml from "@millwright/kube/yaml";
import type { Command, Option } from "commander";

/** Where a flag has its value from. */
export type FlagSource = "command line" | "environment" | "file" | "default";

/** A flag in effect. */
export interface EffectiveFlag {
  readonly name: string;
  /** As a user writes it; a list for a flag that can be repeated. */
  readonly value: string | boolean | readonly string[];
  readonly source: FlagSource;
}

/** Name of the environment variable of a flag. */
export const variableOf = (flag: string): string => `MILLWRIGHT_${flag.replaceAll("-", "_").toUpperCase()}`;

type Fail = (message: string) => never;

/** Parses YAML. The parser takes 5 MiB, and most processes have no configuration file. */
function parse(text: string): unknown {
  const { parseYaml }: typeof Yaml = createRequire(import.meta.url)("@millwright/kube/yaml");
  const [content, ...others] = parseYaml(text);
  if (others.length > 0) throw new Error("expected one document");
  return content;
}

/**
 * Gives a command `--config FILE` and `--print-config`, and lets every flag that it already has be an entry of that file or an environment variable. The command line goes before the
 * environment, and that before the file. Errors name file or variable, entry and what is expected.
 *
 * @returns the flags in effect, once the action of the command runs
 */
export function addConfiguration(command: Command): () => readonly EffectiveFlag[] {
  const options = command.options.filter((option) => !option.negate && option.long !== "--help");
  const given = new Map<string, string[]>();
  for (const option of options)
    command.on(`option:${option.name()}`, (text: string | null) => {
      given.set(option.name(), [...(given.get(option.name()) ?? []), text ?? "true"]);
    });
  const fail: Fail = (message) => command.error(`error: ${message}`);
  let effective: readonly EffectiveFlag[] = [];
  command
    .optionsGroup("Configuration:")
    .option(
      "--config <file>",
      `YAML file with flags, without dashes; a flag on the command line or in the environment (such as ${variableOf("log-level")}) goes before it`,
    )
    .option("--print-config", "print the flags in effect as such a file, with where they are from, and end")
    .hook("preAction", () => {
      const file: unknown = command.getOptionValue("config");
      const entries = typeof file === "string" ? readEntries(file, options, fail) : {};
      effective = options.map((option) => applyOption(command, option, { given, entries, file, fail }));
    });
  return () => effective;
}

/** Reads the entries of a configuration file. */
function readEntries(file: string, options: readonly Option[], fail: Fail): Readonly<Record<string, unknown>> {
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8")) ?? {};
  } catch (error) {
    return fail(`--config ${file}: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
  }
  if (!isRecord(content)) return fail(`--config ${file}: expected a map of flags, without dashes, to their values`);
  const names = options.map((option) => option.name());
  for (const name of Object.keys(content))
    if (!names.includes(name)) fail(`--config ${file}: there is no flag --${name}`);
  return content;
}

interface Sources {
  /** Texts of the command line, by flag. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly entries: Readonly<Record<string, unknown>>;
  readonly file: unknown;
  readonly fail: Fail;
}

/** Sets one flag from the first source that has it. */
function applyOption(command: Command, option: Option, { given, entries, file, fail }: Sources): EffectiveFlag {
  const name = option.name();
  const shown = (texts: readonly string[]): EffectiveFlag["value"] =>
    option.variadic ? texts : option.isBoolean() ? texts[0] === "true" : (texts.at(-1) ?? "");
  const texts = given.get(name);
  if (texts !== undefined) return { name, value: shown(texts), source: "command line" };
  // A flag that begins with --no- has the value of the one without.
  if (command.getOptionValueSource(option.attributeName()) === "cli")
    return { name, value: false, source: "command line" };
  const variable = variableOf(name);
  const text = process.env[variable];
  const take = (values: readonly string[], source: FlagSource, place: string): EffectiveFlag => {
    command.setOptionValueWithSource(option.attributeName(), valueOf(option, values, place, fail), "config");
    return { name, value: shown(values), source };
  };
  if (text !== undefined) return take(option.variadic ? text.split(",") : [text], "environment", variable);
  if (name in entries) {
    const place = `--config ${String(file)}: ${name}`;
    return take(textsOf(option, entries[name], place, fail), "file", place);
  }
  const { defaultValue, defaultValueDescription } = option;
  return { name, value: defaultOf(defaultValueDescription ?? defaultValue), source: "default" };
}

const defaultOf = (value: unknown): EffectiveFlag["value"] =>
  typeof value === "boolean" || typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

/** The entry of a flag as the texts of a command line. */
function textsOf(option: Option, entry: unknown, place: string, fail: Fail): readonly string[] {
  const isText = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
  if (Array.isArray(entry) && entry.every(isText))
    return option.variadic ? entry.map(String) : [entry.map(String).join(",")];
  if (!isText(entry)) return fail(`${place}: expected a text, a number, true, false or a list of them`);
  return [String(entry)];
}

/** The value of a flag, parsed and checked as on the command line. */
function valueOf(option: Option, texts: readonly string[], place: string, fail: Fail): unknown {
  if (option.isBoolean()) {
    const [text = ""] = texts;
    return text === "true" || text === "false" ? text === "true" : fail(`${place}: expected true or false`);
  }
  if (option.parseArg === undefined) return option.variadic ? texts : texts[0];
  try {
    let value: unknown = option.defaultValue;
    for (const text of texts) value = option.parseArg(text, value);
    return value;
  } catch (error) {
    return fail(`${place}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
