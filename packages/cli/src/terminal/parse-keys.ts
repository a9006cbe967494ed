/** Keys that have names; others are the characters that they type. */
const names: Readonly<Record<string, string>> = {
  "\u0003": "ctrl-c",
  "\u001A": "ctrl-z",
  "\u0015": "ctrl-u",
  "\r": "enter",
  "\n": "enter",
  "\b": "backspace",
  "\u007F": "backspace",
  "\u001B": "escape",
  "\u001B[A": "up",
  "\u001BOA": "up",
  "\u001B[B": "down",
  "\u001BOB": "down",
  "\u001B[5~": "page-up",
  "\u001B[6~": "page-down",
  "\u001B[H": "home",
  "\u001BOH": "home",
  "\u001B[1~": "home",
  "\u001B[F": "end",
  "\u001BOF": "end",
  "\u001B[4~": "end",
};

/** A sequence of a function key (ECMA-48, control sequences), or one character. */
// oxlint-disable-next-line no-control-regex -- what a terminal sends starts with an escape character
const key = /\u001B(?:\[[0-?]*[ -/]*[@-~]|O[@-~])|[^]/gu;

/** The keys in what a terminal has sent, by name or as the character that is typed; keys without a use are left out. */
export const parseKeys = (input: string): readonly string[] =>
  (input.match(key) ?? []).flatMap((text) => {
    const name = names[text];
    if (name !== undefined) return [name];
    return /^\P{Cc}$/u.test(text) ? [text] : [];
  });
