import { type MachineErrorCode, isMachineErrorCode } from "./machine-error-code.ts";

/** What the text form of a machine error holds. */
export interface MachineErrorText {
  readonly code: MachineErrorCode;
  readonly message: string;
}

/** Options of {@link decodeMachineError}. */
export interface DecodeMachineErrorOptions {
  /**
   * Also read texts that MCM cannot: messages with unbalanced brackets and wrappers that add brackets of their own. False by
   * default, which is MCM's rule.
   */
  readonly tolerant?: boolean;
}

/**
 * The text form of a machine error, the same as MCM's: `machine codes error: code = [<code>] message = [<message>]`. It is
 * what `status.lastOperation.description` carries (MCM, `pkg/util/provider/machinecodes`).
 */
export function encodeMachineError(error: MachineErrorText): string {
  return `machine codes error: code = [${error.code}] message = [${error.message}]`;
}

/**
 * Reads the text form back, also out of a longer text that wraps it; undefined when the text is not one.
 *
 * The rule is MCM's: the text must hold exactly two top-level bracket groups, the first is the code and the second the
 * message; brackets inside a group belong to it, a closing bracket outside of any is ignored, an open group at the end does not
 * count. So a `]` too many cuts the message short and a `[` too many makes the text unreadable: `tolerant` reads both.
 * A code that is none of the eighteen is Unknown.
 */
export function decodeMachineError(
  text: string,
  options: DecodeMachineErrorOptions = {},
): MachineErrorText | undefined {
  if (options.tolerant === true) {
    const found = /machine codes error: code = \[([^[\]]*)\] message = \[(.*)\]/s.exec(text);
    if (found !== null) return decoded(found[1], found[2]);
  }
  const groups = topLevelGroups(text);
  return groups.length === 2 ? decoded(groups[0], groups[1]) : undefined;
}

function decoded(code: unknown, message: string | undefined): MachineErrorText {
  return { code: isMachineErrorCode(code) ? code : "Unknown", message: message ?? "" };
}

function topLevelGroups(text: string): readonly string[] {
  const groups: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "[") {
      if (depth === 0) start = index + 1;
      depth++;
    } else if (character === "]" && depth > 0) {
      depth--;
      if (depth === 0) groups.push(text.slice(start, index));
    }
  }
  return groups;
}
