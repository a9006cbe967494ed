import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { MachineError } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import { imageProgram } from "./arguments.ts";
import { systemCodeOf } from "../vm/system-code.ts";

const runFile = promisify(execFile);

/** The error of a program that could not be started. */
export function missingProgram(program: string, cause: unknown): MachineError {
  const debian = program === imageProgram ? "qemu-utils" : "qemu-system-x86";
  return systemCodeOf(cause) === "ENOENT"
    ? new MachineError(
        "FailedPrecondition",
        `${program} is not installed on the computer that runs Millwright; install it (Debian and Ubuntu: apt install ${debian}), or add its folder to PATH`,
        { cause },
      )
    : new MachineError("FailedPrecondition", `${program} cannot be started (${systemCodeOf(cause)})`, {
        cause,
      });
}

/**
 * Runs a program of QEMU to its end, without a shell, and returns what it prints.
 *
 * @throws MachineError if it is not installed; what `toError` makes of its messages if it fails; the reason of the signal when it aborts
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
  toError: (message: string) => MachineError,
): Promise<string> {
  try {
    const { stdout } = await runFile(program, args, {
      signal,
      env: { PATH: process.env["PATH"] },
      maxBuffer: 1_048_576,
    });
    return stdout;
  } catch (error) {
    signal.throwIfAborted();
    if (systemCodeOf(error) !== "") throw missingProgram(program, error);
    const printed = fieldOf(error, "stderr");
    throw toError(lastLine(typeof printed === "string" ? printed : ""));
  }
}

/** The last line of what a program of QEMU printed, without its own name. */
export function lastLine(text: string): string {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return line.replace(/^\S*qemu-[a-z0-9_-]+: /, "").slice(0, 1_000);
}
