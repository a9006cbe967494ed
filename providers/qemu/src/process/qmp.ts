import { createConnection } from "node:net";
import { fieldOf } from "@millwright/core/driver-kit";

/** Commands of QEMU's machine protocol that the driver uses. */
export type QmpCommand = "query-status" | "system_powerdown";

/** The longest line that is read, in characters; a longer one ends the connection. */
const longestLine = 1_048_576;

/** A response of QEMU in one line; undefined for its greeting and its events. */
function responseIn(line: string): { readonly value: unknown } | { readonly error: string } | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return { error: "QEMU sent a line that is not JSON" };
  }
  const error = fieldOf(message, "error");
  if (error !== undefined) return { error: String(fieldOf(error, "desc")) };
  const value = fieldOf(message, "return");
  return value === undefined ? undefined : { value };
}

/**
 * Runs one command on the socket of a VM, and returns what QEMU returns (`docs/interop/qmp-spec.rst` of QEMU: a greeting, `qmp_capabilities`, then commands; a line each).
 * One connection is served at a time, so it ends with the command.
 *
 * @throws an error when the socket does not exist, is not served, or the command fails; the reason of the signal when it aborts
 */
export async function runQmp(socketPath: string, command: QmpCommand, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const socket = createConnection({ path: socketPath });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("QEMU closed the connection")));
  const commands = ["qmp_capabilities", command];
  const send = (): void => void socket.write(`${JSON.stringify({ execute: commands[0] })}\n`);
  let isGreeted = false;
  const read = (line: string): void => {
    if (!isGreeted) {
      isGreeted = true;
      send();
      return;
    }
    const response = responseIn(line);
    if (response === undefined) return;
    if ("error" in response) return reject(new Error(response.error));
    commands.shift();
    if (commands.length === 0) resolve(response.value);
    else send();
  };
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) reject(new Error("QEMU sent a line that is too long"));
    for (const line of lines) read(line);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
    socket.destroy();
  }
}
