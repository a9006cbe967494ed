import type { Command } from "commander";

const longNames = (command: Command): readonly string[] => [
  ...command.options.flatMap(({ long }) => long ?? []),
  ...command.commands.flatMap(longNames),
];

/**
 * The words of a command line, with the value of each flag that no command has in a word of its own: the parser rejects the flag either way, and finds the one that was meant only by the bare name.
 */
export function separateMisspeltFlags(words: readonly string[], program: Command): readonly string[] {
  const known = new Set(["--help", ...longNames(program)]);
  const end = words.indexOf("--");
  return words.flatMap((word, index) => {
    const [, flag = "", value = ""] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
    return flag === "" || known.has(flag) || (end !== -1 && index > end) ? [word] : [flag, value];
  });
}
